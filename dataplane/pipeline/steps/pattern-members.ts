import { maskMessage, patternId } from '../../domain/pattern.ts'

const MAX_PATTERNS = 20_000

/** `pattern_id` and `pattern` of messages as JSON members, remembered by pattern: logs have many messages and few patterns. */
export class PatternMembers {
  readonly #members = new Map<string, string>()

  /** With a leading comma. */
  of(message: string): string {
    const text = maskMessage(message)
    let members = this.#members.get(text)
    if (members === undefined) {
      members = `,"pattern_id":"${patternId(text)}","pattern":${JSON.stringify(text)}`
      if (this.#members.size >= MAX_PATTERNS) this.#members.clear()
      this.#members.set(text, members)
    }
    return members
  }
}
