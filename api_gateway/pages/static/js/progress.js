// Follows a question: stages as they come, then the page with the answer. Words are only ever set
// as text; the answer itself is rendered by the server.
const WORDS = {
  running: "running",
  waiting: "waiting to try again",
  done: "done",
  dead: "gave up",
};
const region = document.querySelector("[data-events]");
const line = region.querySelector("[data-status-line]");
const began = new Map();

const duration = (ms) => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);

function show({ stage, status, ms }) {
  const step = region.querySelector(`[data-stage="${CSS.escape(stage)}"]`);
  if (!step) return;
  step.dataset.status = status;
  step.querySelector(".state-word").textContent = WORDS[status] ?? status;
  if (status === "running") began.set(step, performance.now());
  else began.delete(step);
  step.querySelector(".took").textContent = status === "done" && ms !== null ? duration(ms) : "";
  const title = step.querySelector(".stage-title").textContent;
  line.textContent = `${title}: ${WORDS[status] ?? status}`;
}

for (const step of region.querySelectorAll('[data-status="running"]')) {
  began.set(step, performance.now());
}
setInterval(() => {
  for (const [step, since] of began) {
    step.querySelector(".took").textContent = duration(performance.now() - since);
  }
}, 100);

// The words are the server's own, and lie in the page already.
const slow = region.querySelector("[data-slow]");
const words = region.querySelector("[data-slow-words]");
if (words) {
  setTimeout(() => slow.append(words.content.cloneNode(true)), Number(slow.dataset.slow));
}

const events = new EventSource(region.dataset.events);
events.addEventListener("stage", (event) => show(JSON.parse(event.data)));
for (const last of ["answered", "failed"]) {
  events.addEventListener(last, () => {
    events.close();
    location.replace(location.pathname);
  });
}
events.addEventListener("error", () => {
  // The browser comes back by itself unless the stream is closed for good.
  if (events.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 2000);
});
