/** Whether keys that write a character are commands. Who speaks to the computer, or touches keys by accident, turns them off (WCAG 2.1.4); kept in this browser. */
import { createKeptChoice } from '../kept-choice.ts'

export const {
  get: usesLetterKeys,
  set: setLetterKeys,
  subscribe: onLetterKeysChange,
} = createKeptChoice('logpipeline.letter-keys', { yes: 'on', no: 'off' }, true)

export function isLetterKey(key: string): boolean {
  return [...key].length === 1
}
