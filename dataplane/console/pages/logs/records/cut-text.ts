import { formatCount } from '../../../components/format.ts'

export interface CutText {
  readonly shown: string
  /** Undefined: it is shown whole. */
  readonly note: string | undefined
}

/** The beginning of a long text, which ends with a whole character, and what to say of the rest. */
export function cutText(text: string, maxLength: number): CutText {
  if (text.length <= maxLength) return { shown: text, note: undefined }
  const isWithinPair = /[\ud800-\udbff]/.test(text.charAt(maxLength - 1))
  const shown = text.slice(0, isWithinPair ? maxLength - 1 : maxLength)
  return { shown, note: `The first ${formatCount(shown.length)} of ${formatCount(text.length)} characters; the copy has all.` }
}
