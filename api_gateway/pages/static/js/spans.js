// Marks the words of a field while the pointer or the focus is on it. Without this its link does.
const runs = [...document.querySelectorAll("[data-spans]")].map((run) => [
  run,
  run.dataset.spans.split(" "),
]);
function light(name, on) {
  for (const [run, names] of runs) {
    if (names.includes(name)) run.classList.toggle("lit", on);
  }
}
for (const link of document.querySelectorAll("[data-span]")) {
  for (const [event, on] of [
    ["pointerenter", true],
    ["pointerleave", false],
    ["focus", true],
    ["blur", false],
  ]) {
    link.addEventListener(event, () => light(link.dataset.span, on));
  }
}
