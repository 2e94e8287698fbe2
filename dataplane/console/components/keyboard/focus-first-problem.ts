/** The focus goes to the first field with a problem, once problems are drawn: a form that was not sent is told of to those who do not see it. */
export function focusFirstProblem(form: HTMLFormElement | null): void {
  requestAnimationFrame(() => form?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus())
}
