/** Panels in place of data: nothing there, something failed, still on its way. */
import { Button } from '@mantine/core'
import { IconAlertTriangle, IconInbox } from '@tabler/icons-react'
import { useIsFetching } from '@tanstack/react-query'
import { type ComponentType, type ReactNode, useEffect, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { isAway, isOtherTenants, needsLogin, problemOf } from '../../api/problem.ts'
import { BASE_PATH } from '../../url-state/base-path.ts'
import { linkTo, useLink } from '../../url-state/links.ts'
import { parseTenant, TENANT_PARAMETER } from '../../url-state/tenant.ts'
import { useSearch } from '../../url-state/use-search.ts'
import { CopyButton } from '../copy/copy-button.tsx'
import styles from './states.module.css'

export interface EmptyStateProps {
  readonly title: string
  readonly icon?: ComponentType<{ size?: number; stroke?: number }>
  /** Takes less room, within a card. */
  readonly small?: boolean
  readonly children?: ReactNode
}

export function EmptyState({ title, icon: Icon = IconInbox, small = false, children }: EmptyStateProps) {
  return (
    <div className={small ? `${styles.empty} ${styles.small}` : styles.empty}>
      <Icon size={small ? 24 : 36} stroke={1.4} aria-hidden />
      <strong>{title}</strong>
      {children}
    </div>
  )
}

export interface CommandProps {
  readonly text: string
  /** Names the button that copies the text. */
  readonly label?: string
}

/** A command for the terminal, and a button that copies it. */
export function Command({ text, label = 'Copy the command' }: CommandProps) {
  return (
    <div className={styles.command}>
      <code>{text}</code>
      <CopyButton text={text} label={label} />
    </div>
  )
}

export interface ErrorPanelProps {
  readonly error: unknown
  /** Resolves once it was tried. */
  readonly onRetry?: () => Promise<unknown>
  readonly small?: boolean
  /** In the place of the usual next step, which leads to the page on health. */
  readonly advice?: string
}

/** A failure: the event, the next step, and the way to try again. */
export function ErrorPanel({ error, onRetry, small = false, advice }: ErrorPanelProps) {
  const { message, whatToDo, status } = problemOf(error)
  const link = useLink()
  return (
    <div className={small ? `${styles.error} ${styles.small}` : styles.error} role="alert">
      <IconAlertTriangle size={small ? 24 : 36} stroke={1.4} aria-hidden />
      <strong>{message}</strong>
      <p>{advice ?? whatToDo}</p>
      <div className={styles.ways}>
        {onRetry !== undefined && <TryAgain onRetry={onRetry} />}
        {needsLogin(status) && <LogIn />}
        {isOtherTenants(status) && <LookAtAllTenants />}
        {advice === undefined && isAway(status) && <Link href={link('/status')}>Open Health</Link>}
      </div>
    </div>
  )
}

function TryAgain({ onRetry }: Required<Pick<ErrorPanelProps, 'onRetry'>>) {
  const [isTrying, setTrying] = useState(false)
  const tryAgain = async () => {
    setTrying(true)
    await onRetry()
    setTrying(false)
  }
  return (
    <Button variant="default" onClick={() => void tryAgain()}>
      {isTrying ? 'Trying…' : 'Try again'}
    </Button>
  )
}

/** The same page without the choice of a tenant: what a link of somebody else leads to may be of another one. */
function LookAtAllTenants() {
  const search = useSearch()
  const [path] = useLocation()
  if (parseTenant(search) === undefined) return null
  return <Link href={linkTo(search, path, { [TENANT_PARAMETER]: undefined })}>Look at all tenants</Link>
}

/** Leads through the form back to this page. */
export function LogIn() {
  const { pathname, search } = window.location
  return <a href={`${BASE_PATH}/login?${new URLSearchParams({ next: pathname + search })}`}>Log in</a>
}

/** Waits of less than this show no notice. */
const PATIENCE_MS = 500

/** True once `isWaiting` has held for half a second. */
export function useSlow(isWaiting: boolean): boolean {
  const [isSlow, setSlow] = useState(false)
  useEffect(() => {
    if (!isWaiting) return setSlow(false)
    const timer = setTimeout(() => setSlow(true), PATIENCE_MS)
    return () => clearTimeout(timer)
  }, [isWaiting])
  return isSlow
}

/** In place of a card's content while it is read for the first time; says so after half a second. */
export function Pending({ what = 'Reading' }: { readonly what?: string }) {
  const isSlow = useSlow(true)
  return (
    <div className={styles.pending} aria-busy="true">
      {isSlow && <span role="status">{what}…</span>}
    </div>
  )
}

/** The bar at the top of the page while anything takes longer than half a second. */
export function Progress() {
  const isSlow = useSlow(useIsFetching({ predicate: query => query.meta?.['quiet'] !== true }) > 0)
  return isSlow ? <div className={styles.progress} role="progressbar" aria-label="Reading" /> : null
}
