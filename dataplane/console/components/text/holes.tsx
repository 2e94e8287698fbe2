/** Text of a pattern or of a title made of one: the places that differ between messages are set back. Stands in an element that is `dir="auto"`. */

import { Fragment } from 'react'
import { withoutTerminalCodes } from '../../../domain/records/terminal-codes.ts'
import { VisibleText } from './foreign-text.tsx'
import styles from './holes.module.css'
import { isBlank, NoMessage } from './no-message.tsx'

export function Holes({ text }: { readonly text: string }) {
  const shown = withoutTerminalCodes(text)
  if (isBlank(shown)) return <NoMessage />
  return shown.split('<*>').map((part, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text
    <Fragment key={at}>
      {at > 0 && <i className={styles.hole}>&lt;*&gt;</i>}
      <VisibleText text={part} />
    </Fragment>
  ))
}
