import { IconLock } from '@tabler/icons-react'
import styles from './section.module.css'

/** What an operator's resource declares is read here, and changed there. */
export function DeclaredNote({ owner, what = 'TicketingRoute' }: { readonly owner?: string | undefined; readonly what?: string }) {
  return (
    <p className={styles.declared}>
      <IconLock size={14} aria-hidden /> Declared by {what} {owner !== undefined && <code>{owner}</code>}: it is changed there, and read
      here.
    </p>
  )
}
