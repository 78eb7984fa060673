# The image of `reconcileJob` (docs/pipelines.md): this project, its config, Pulumi's CLI, the locked Python environment.
# Build it in the folder that holds your Pulumi.<stack>.yaml, and pin both bases to the digests that you have tested:
#   docker build --build-arg PYTHON=python:3.12-slim@sha256:… --build-arg PULUMI=pulumi/pulumi-base:3.220.0@sha256:… -t … .
ARG PYTHON=python:3.12-slim
ARG PULUMI=pulumi/pulumi-base:3.220.0

FROM ${PULUMI} AS pulumi
COPY requirements.lock /tmp/requirements.lock
# The plugin of the very version that the Python package has.
RUN version="$(sed -n 's/^pulumi-kubernetes==\([0-9.]*\).*/\1/p' /tmp/requirements.lock)" \
 && pulumi plugin install resource kubernetes "$version" \
 && cp "$HOME/.pulumi/plugins/resource-kubernetes-v$version/pulumi-resource-kubernetes" /pulumi/bin/

FROM ${PYTHON}
COPY --from=pulumi /pulumi/bin/pulumi /pulumi/bin/pulumi-language-python /pulumi/bin/pulumi-language-python-exec \
  /pulumi/bin/pulumi-resource-pulumi-python /pulumi/bin/pulumi-resource-kubernetes /usr/local/bin/
WORKDIR /srv/coder-stack
COPY requirements.lock ./
RUN python -m venv .venv \
 && .venv/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes --requirement requirements.lock
COPY pyproject.toml README.md LICENSE Pulumi.yaml Pulumi.*.yaml __main__.py ./
COPY coder_stack coder_stack
RUN .venv/bin/pip install --no-cache-dir --disable-pip-version-check --no-deps --no-build-isolation --editable .
ENV PATH=/srv/coder-stack/.venv/bin:/usr/local/bin:/usr/bin:/bin
USER 1000:1000
ENTRYPOINT []
CMD ["coder-stack", "--help"]
