/** How long a pause between two statements of a visit mostly is, and how unusual one is: in deviations of its logarithm. */

/** Added to each pause before its logarithm is taken: differences of a few ms are noise. */
const NOISE_MS = 5
/** A pair of statements that came less often says nothing. */
const MIN_PAUSES = 30
/** The usual pause follows slowly: as the mean of this many. */
const REMEMBERED = 500
const MIN_DEVIATION = 0.3
/** Nobody notices a pause that is longer than usual by less. */
const NOTICED_MS = 100
/** One pause counts from -1 to 6 deviations, and moves what is usual by 3 at most. */
const LOWEST = -1
const HIGHEST = 6
const MAX_MOVE = 3

/** Usual pauses by pair of statements, each with three numbers. */
export class Pauses {
  #usual = new Float32Array(24)
  #pairs = 0
  /** The pause judged last was longer than usual by a time that somebody notices. */
  isNoticed = false

  get bytes(): number {
    return this.#usual.byteLength
  }

  addPair(): number {
    if (3 * (this.#pairs + 1) > this.#usual.length) {
      const usual = new Float32Array(this.#usual.length * 2)
      usual.set(this.#usual)
      this.#usual = usual
    }
    return this.#pairs++
  }

  /** How unusual a pause is; NaN while too few were seen. Then it counts for what is usual. */
  judge(pair: number, ms: number): number {
    const usual = this.#usual
    const at = 3 * pair
    const seen = usual[at]!
    const logarithm = Math.log(Math.max(ms, 0) + NOISE_MS)
    const deviation = Math.max(Math.sqrt(usual[at + 2]!), MIN_DEVIATION)
    const away = logarithm - usual[at + 1]!
    const z = away / deviation
    const move = seen < MIN_PAUSES ? away : Math.min(Math.max(z, -MAX_MOVE), MAX_MOVE) * deviation
    const weight = 1 / Math.min(seen + 1, REMEMBERED)
    usual[at] = seen + 1
    usual[at + 1]! += move * weight
    usual[at + 2]! += (move * move * (1 - weight) - usual[at + 2]!) * weight
    this.isNoticed = z > 0 && ms + NOISE_MS >= Math.exp(logarithm - away) + NOTICED_MS
    return seen < MIN_PAUSES ? Number.NaN : Math.min(Math.max(z, LOWEST), HIGHEST)
  }
}
