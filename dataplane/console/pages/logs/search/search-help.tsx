/** How to search, on one page; and the query that a search becomes. */
import { Modal } from '@mantine/core'
import { CopyButton } from '../../../components/copy/copy-button.tsx'
import styles from './search-help.module.css'

const EXAMPLES: readonly (readonly [search: string, meaning: string])[] = [
  ['timeout', 'messages with this word, in any case'],
  ['"disk full"', 'these words beside each other'],
  ['service:orders', 'a field with this value'],
  ['service:(orders OR payments)', 'one of several values'],
  ['service:shop-*', 'values that begin so; ? stands for one character'],
  ['duration_ms:>500', 'more than; also >=, <, <='],
  ['duration_ms:[100 TO 500]', 'a range; { and } leave out its ends'],
  ['trace_id:*', 'any value at all'],
  ['-level:INFO', 'not; NOT is the same'],
  ['timeout service:orders', 'both; AND is the same'],
  ['timeout OR refused', 'either; ( and ) put terms together'],
]

export function SearchHelp({
  opened,
  onClose,
  query,
}: {
  readonly opened: boolean
  readonly onClose: () => void
  readonly query: object | undefined
}) {
  return (
    <Modal opened={opened} onClose={onClose} title="How to search" size="xl">
      {opened && (
        <div className={styles.help}>
          <dl className={styles.examples}>
            {EXAMPLES.map(([search, meaning]) => (
              <div key={search}>
                <dt>
                  <code>{search}</code>
                </dt>
                <dd>{meaning}</dd>
              </div>
            ))}
          </dl>
          <p>
            Names of fields and their values are offered as you type. A click on a value anywhere on the page filters it in, or out; the
            search says so, and can be changed by hand.
          </p>
          {query !== undefined && <QueryText query={query} />}
        </div>
      )}
    </Modal>
  )
}

/** As it goes to the search store; can be pasted into any OpenSearch tool. */
function QueryText({ query }: { readonly query: object }) {
  const text = JSON.stringify(query, null, 2)
  return (
    <section className={styles.query} aria-label="The query of this search">
      <header>
        <h3>The query of this search</h3>
        <code>POST /service-logs-*/_search</code>
        <CopyButton text={text} label="Copy the query" />
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by the keyboard */}
      <pre tabIndex={0}>{text}</pre>
    </section>
  )
}
