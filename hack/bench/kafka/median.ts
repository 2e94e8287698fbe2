/** The middle one; of an even number the lower of the two in the middle. */
export function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor((numbers.length - 1) / 2)] ?? Number.NaN
}
