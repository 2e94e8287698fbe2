import { IconLock } from '@tabler/icons-react'
import styles from './section.module.css'

/** A note on settings that an operator's resource declares: they are read here, and changed there. */
export function DeclaredNote({ owner, what = 'TicketingRoute' }: { readonly owner?: string | undefined; readonly what?: string }) {
  return (
    <p className={styles.declared}>
      <IconLock size={14} aria-hidden /> Declared by {what} {owner !== undefined && <code>{owner}</code>}: it is changed there, and read
      here.
    </p>
  )
}
