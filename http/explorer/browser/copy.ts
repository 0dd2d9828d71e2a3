/** How long a button shows the result of a press. */
const saidMs = 2_500;

/** Copies the text of a pressed button (`components/Copy.tsx`). Browsers have no clipboard for pages without encryption. */
export function connectCopies() {
  document.addEventListener('click', async ({ target }) => {
    const button = target instanceof Element ? target.closest<HTMLElement>('[data-copy]') : null;
    const copy = button?.parentElement;
    if (button === null || copy == null) return;
    let state = 'is-copied';
    try {
      await navigator.clipboard.writeText(button.dataset.copy ?? '');
    } catch {
      state = 'is-not-copied';
    }
    copy.classList.add(state);
    setTimeout(() => copy.classList.remove(state), saidMs);
  });
}
