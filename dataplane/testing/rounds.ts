/** The part of all rounds. `TEST_ROUNDS=all` is set by `npm run test:real` (hack/all-rounds.real.ts), and by hand. */
const SHARE = process.env['TEST_ROUNDS'] === 'all' ? 1 : 0.25

/** How many of its rounds a randomised comparison does in this run. In `npm test` a quarter: each kind of input still comes, and the rest comes with all rounds. */
export function rounds(all: number): number {
  return Math.ceil(all * SHARE)
}
