/** Text of a pattern or of a title made of one: the places that differ between messages are set back. Stands in an element that is `dir="auto"`. */

import { Fragment } from 'react'
import { withoutTerminalCodes } from '../../domain/records/terminal-codes.ts'
import { VisibleText } from './foreign-text.tsx'
import styles from './holes.module.css'

export function Holes({ text }: { readonly text: string }) {
  return withoutTerminalCodes(text)
    .split('<*>')
    .map((part, at) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text
      <Fragment key={at}>
        {at > 0 && <i className={styles.hole}>&lt;*&gt;</i>}
        <VisibleText text={part} />
      </Fragment>
    ))
}
