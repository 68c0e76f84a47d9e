// Tells before anything is sent what of the chosen files would be refused for its size or number.
const input = document.querySelector("input[type=file][data-most-bytes]");
const told = document.querySelector("[data-files-told]");
const most = { files: Number(input.dataset.mostFiles), bytes: Number(input.dataset.mostBytes) };

function check() {
  const bytes = [...input.files].reduce((sum, file) => sum + file.size, 0);
  const megabytes = (count) => `${(count / 1024 ** 2).toFixed(1)} MB`;
  let words = "";
  if (input.files.length > most.files) {
    words = `${input.files.length} files are chosen; up to ${most.files} are taken at once.`;
  } else if (bytes > most.bytes) {
    words = `The chosen files have ${megabytes(bytes)}; together up to ${megabytes(most.bytes)} are taken.`;
  }
  told.textContent = words;
  input.setCustomValidity(words);
}

input.addEventListener("change", check);
addEventListener("pageshow", check);
