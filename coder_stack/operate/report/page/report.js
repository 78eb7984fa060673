"use strict";
// Shows the copy buttons; each copies the text in front of it.
// Where the clipboard is closed to a page from a file, the text is selected and copied from there.
const announcement = document.getElementById("copied");

async function copied(source) {
  try {
    await navigator.clipboard.writeText(source.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(source);
    return document.execCommand("copy");
  }
}

for (const button of document.querySelectorAll("button.copy")) {
  const word = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const done = await copied(button.previousElementSibling);
    button.textContent = done ? "Copied" : "Selected";
    announcement.textContent = button.textContent;
    setTimeout(() => { button.textContent = word; announcement.textContent = ""; }, 2000);
  });
}
