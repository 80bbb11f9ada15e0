"use strict";
(() => {
  const root = document.documentElement;
  const slides = [...document.querySelectorAll(".slide")];
  const back = document.getElementById("back"), next = document.getElementById("next");
  const far = document.getElementById("far"), at = document.getElementById("at");
  const picked = {}; // the first answer to each question
  let here = 0;

  const show = (n, focus) => {
    here = Math.min(Math.max(n, 0), slides.length - 1);
    slides.forEach((s, i) => s.classList.toggle("here", i === here));
    back.disabled = here === 0;
    next.disabled = here === slides.length - 1;
    far.value = here + 1;
    at.textContent = (here + 1) + " / " + slides.length;
    history.replaceState(null, "", "#s" + here);
    if (focus) slides[here].focus({ preventScroll: true });
    scrollTo(0, 0);
  };

  // An answer is told right or wrong after the step, and the first one counts.
  const pick = (quiz, choice) => {
    const id = quiz.dataset.quiz;
    if (!(id in picked)) picked[id] = choice;
    [...quiz.querySelectorAll(".choice")].forEach((b, i) => b.setAttribute("aria-pressed", String(i === picked[id])));
    for (const a of document.querySelectorAll(".answer[data-quiz='" + id + "']")) {
      const said = a.getAttribute("data-picked-" + picked[id]);
      if (said === null) continue;
      a.textContent = said;
      a.classList.add(picked[id] === Number(a.dataset.right) ? "yes" : "no");
    }
    const right = [...document.querySelectorAll(".answer[data-right]")].filter((a) => picked[a.dataset.quiz] === Number(a.dataset.right)).length;
    for (const s of document.querySelectorAll(".score")) {
      s.textContent = s.getAttribute("data-score-" + right);
      s.hidden = false;
    }
    show(here + 1, true);
  };
  const quizHere = () => slides[here].querySelector(".quiz");
  for (const quiz of document.querySelectorAll(".quiz")) {
    [...quiz.querySelectorAll(".choice")].forEach((b, i) => b.addEventListener("click", () => pick(quiz, i)));
  }

  back.addEventListener("click", () => show(here - 1, false));
  next.addEventListener("click", () => show(here + 1, false));
  addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const quiz = quizHere(), choice = "abc".indexOf(e.key);
    if (quiz && choice >= 0 && e.key.length === 1) pick(quiz, choice);
    else if (e.key === "ArrowRight" || e.key === "PageDown") show(here + 1, true);
    else if (e.key === "ArrowLeft" || e.key === "PageUp" || e.key === "b") show(here - 1, true);
    else if (e.key === "Home") show(0, true);
    else if (e.key === "End") show(slides.length - 1, true);
    else return;
    e.preventDefault();
  });
  addEventListener("hashchange", () => show(Number(location.hash.slice(2)) || 0, false));

  root.classList.add("scripted");
  show(Number(location.hash.slice(2)) || 0, false);
})();
