import type { ReactNode } from 'react'
import type { TicketingConfig } from '../../api/ticketing-config.ts'
import { ErrorPanel, Pending } from '../../components/states/states.tsx'
import styles from './section.module.css'
import { useConfig } from './use-config.ts'

/** Shows children that need the ticketing configuration, once it is there; its problems stand above. */
export function WithConfig({ children }: { readonly children: (config: TicketingConfig) => ReactNode }) {
  const { data, error, refetch } = useConfig()
  if (data === undefined)
    return error === null ? <Pending what="Reading the configuration" /> : <ErrorPanel error={error} onRetry={refetch} />
  const problems = [...(data.problems ?? []), ...(data.declared?.problems ?? [])]
  return (
    <>
      {problems.length > 0 && (
        <ul className={styles.problems} aria-label="Problems of the configuration">
          {problems.map(problem => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
      )}
      {children(data)}
    </>
  )
}
