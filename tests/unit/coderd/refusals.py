"""Coderd's error responses: the method, the response, and the error that it means."""

from coder_stack.coderd.errors import (
    CoderdError,
    Conflict,
    DuplicateLicense,
    ForbiddenByRole,
    InvalidLicense,
    InvalidRequest,
    KeyRejected,
    NotEmpty,
    NotEntitled,
    NotFound,
    PasswordLoginDisabled,
    ProtocolError,
    RateLimited,
    RouteAbsent,
    ServerFault,
    Unauthenticated,
)
from tests.unit.coderd.fakes import message

SIGNED_OUT = "You are signed out or your session has expired. Please sign in again to continue."
GONE = "Resource not found or you do not have access to this resource"
FORBIDDEN = "unauthorized: rbac: forbidden"
RBAC = message("An internal server error occurred.", FORBIDDEN)
UNDELETED = "Error deleting organization."
HOLDS = "This organization has {} that must be deleted first."
OLD = (
    "delete organization: execute transaction: delete organization: pq: cannot delete "
    "organization: organization has 0 workspaces, 0 templates, and 1 provisioner keys that must be "
    "deleted first"
)
UNIQUE = 'pq: duplicate key value violates unique constraint "'
BAD = "Invalid license"
CSRF = b"Something is wrong with your CSRF token.\n"

REFUSALS: list[tuple[str, int, object, type[CoderdError]]] = [
    # 1. conventions
    ("licenses", 400, message("Request body must be valid JSON."), InvalidRequest),
    ("create_token", 400, message("Validation failed.", fields=["token_name"]), InvalidRequest),
    ("licenses", 403, message("Forbidden.", "You don't have permission …"), ForbiddenByRole),
    ("organization", 404, message(GONE), NotFound),
    ("licenses", 404, message("Route not found."), RouteAbsent),
    ("entitlements", 404, message("Route not found."), RouteAbsent),
    ("workspace_proxies", 404, message("Route not found."), RouteAbsent),
    ("provisioner_keys", 404, message("Route not found."), RouteAbsent),
    ("provisioner_key_of", 404, message("Route not found."), RouteAbsent),
    ("licenses", 405, b"", ProtocolError),
    ("licenses", 500, message("An internal server error occurred.", "boom"), ServerFault),
    ("licenses", 429, message("You've been rate limited for …"), RateLimited),
    ("add_license", 400, CSRF, ProtocolError),
    ("user", 401, message(SIGNED_OUT, "API key is invalid."), Unauthenticated),
    ("user", 401, message('User is not active (status = "suspended").'), Unauthenticated),
    (
        "provisioner_keys",
        403,
        message("External Provisioner Daemons is a Premium feature. Contact sales!"),
        NotEntitled,
    ),
    (
        "provisioner_keys",
        403,
        message("External provisioner daemons is an Enterprise feature. Contact sales!"),
        NotEntitled,
    ),
    (
        "workspace_proxies",
        403,
        message("Workspace Proxy is a Premium feature. Contact sales!"),
        NotEntitled,
    ),
    # 2. first user and login
    ("create_first_user", 400, message("Password is invalid", fields=["password"]), InvalidRequest),
    ("create_first_user", 409, message("The initial user has already been created."), Conflict),
    ("create_first_user", 500, message("Failed to generate trial"), ServerFault),
    ("create_first_user", 500, message("Internal error creating user."), ServerFault),
    ("has_first_user", 404, message("Route not found."), RouteAbsent),
    ("login", 401, message("Incorrect email or password."), Unauthenticated),
    ("login", 403, message("Password authentication is disabled."), PasswordLoginDisabled),
    ("login", 403, message("Incorrect login type, attempting to use …"), PasswordLoginDisabled),
    ("login", 401, message("Your account is suspended. Contact an admin."), Unauthenticated),
    # 3. tokens
    ("token", 400, message('"user" must be an existing uuid or username.'), InvalidRequest),
    (
        "create_token",
        400,
        message("Failed to validate create API key request.", "lifetime must be less than 168h"),
        InvalidRequest,
    ),
    ("create_token", 400, message("Failed to create API key."), InvalidRequest),
    (
        "create_token",
        409,
        message('A token with name "x" already exists.', fields=["name"]),
        Conflict,
    ),
    ("create_token", 403, message("Forbidden."), ForbiddenByRole),
    ("create_token", 500, message("Failed to create API key."), ServerFault),
    ("token", 404, message(GONE), NotFound),
    ("delete_token", 404, message(GONE), NotFound),
    # 4. organizations
    (
        "create_organization",
        403,
        message("Multiple Organizations is a Premium feature. Contact sales!"),
        NotEntitled,
    ),
    (
        "create_organization",
        400,
        message('Organization name "default" is reserved.'),
        InvalidRequest,
    ),
    ("create_organization", 409, message("Organization already exists with that name."), Conflict),
    ("create_organization", 500, message("Internal error inserting …", FORBIDDEN), ForbiddenByRole),
    (
        "update_organization",
        409,
        message('Organization already exists with the name "dev".', fields=["name"]),
        Conflict,
    ),
    ("update_organization", 404, message(GONE), NotFound),
    (
        "delete_organization",
        400,
        message("Default organization cannot be deleted."),
        InvalidRequest,
    ),
    ("delete_organization", 500, message(UNDELETED, HOLDS.format("1 template")), NotEmpty),
    ("delete_organization", 500, message(UNDELETED, HOLDS.format("")), ForbiddenByRole),
    ("delete_organization", 500, message("Internal error deleting organization.", OLD), NotEmpty),
    ("delete_organization", 500, message("Internal error deleting …", FORBIDDEN), ForbiddenByRole),
    ("delete_organization", 404, message(GONE), NotFound),
    # 5. licenses
    ("licenses", 500, message("Internal error parsing licenses."), ServerFault),
    ("add_license", 400, message("Validation failed.", fields=["license"]), InvalidLicense),
    (
        "add_license",
        400,
        message(BAD, "license has multiple issues; contact support"),
        InvalidLicense,
    ),
    ("add_license", 400, message("License cannot be used on this deployment!"), InvalidLicense),
    ("add_license", 401, message(SIGNED_OUT), Unauthenticated),
    ("add_license", 403, message("Forbidden."), ForbiddenByRole),
    (
        "add_license",
        500,
        message("Unable to add license to database", UNIQUE + 'licenses_jwt_key"'),
        DuplicateLicense,
    ),
    ("add_license", 500, message("Failed to update entitlements"), ServerFault),
    ("delete_license", 404, message("License ID must be an integer"), NotFound),
    ("delete_license", 404, message("Unknown license ID"), NotFound),
    # 7. provisioner keys
    ("create_provisioner_key", 400, message("Name is required", fields=["name"]), InvalidRequest),
    (
        "create_provisioner_key",
        400,
        message("Name must be at most 64 characters", fields=["name"]),
        InvalidRequest,
    ),
    (
        "create_provisioner_key",
        400,
        message("Name cannot be reserved name 'psk'", fields=["name"]),
        InvalidRequest,
    ),
    (
        "create_provisioner_key",
        409,
        message("Provisioner key with name 'gpu' already exists in organization"),
        Conflict,
    ),
    ("create_provisioner_key", 500, RBAC, ForbiddenByRole),
    ("delete_provisioner_key", 500, RBAC, ForbiddenByRole),
    (
        "delete_provisioner_key",
        400,
        message("Cannot delete reserved 'psk' provisioner key"),
        InvalidRequest,
    ),
    ("delete_provisioner_key", 404, message(GONE), NotFound),
    ("provisioner_key_of", 401, message("provisioner daemon key invalid"), KeyRejected),
    (
        "provisioner_key_of",
        400,
        message("provisioner daemon key invalid", "must be 43 characters"),
        KeyRejected,
    ),
    ("provisioner_key_of", 401, message("provisioner daemon key required"), Unauthenticated),
    # 8. workspace proxies
    (
        "create_workspace_proxy",
        400,
        message('The name "primary" is reserved for the primary region.', fields=["name"]),
        InvalidRequest,
    ),
    (
        "create_workspace_proxy",
        409,
        message('Workspace proxy with name "eu" already exists.'),
        Conflict,
    ),
    ("create_workspace_proxy", 500, RBAC, ForbiddenByRole),
    ("update_workspace_proxy", 400, message("Validation failed.", fields=["icon"]), InvalidRequest),
    (
        "update_workspace_proxy",
        500,
        message("An internal server error occurred.", UNIQUE + 'workspace_proxies_lower_name_idx"'),
        Conflict,
    ),
    ("update_workspace_proxy", 404, message(GONE), NotFound),
    ("workspace_proxy", 404, message(GONE), NotFound),
    ("delete_workspace_proxy", 400, message("Cannot delete primary proxy"), InvalidRequest),
    ("delete_workspace_proxy", 404, message(GONE), NotFound),
]
