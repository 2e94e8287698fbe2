/**
 * An answer that stays on the page until that of the next question is there, for `placeholderData`.
 * One without content would say of the next question that nothing is found.
 */
export function keepUnless<T>(before: T | undefined, isEmpty: (answer: T) => boolean): T | undefined {
  return before === undefined || isEmpty(before) ? undefined : before
}
