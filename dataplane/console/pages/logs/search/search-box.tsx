/** The search: what is typed, what is offered, and where it cannot be read. */

import { ActionIcon, Tooltip } from '@mantine/core'
import { IconHelp, IconSearch, IconX } from '@tabler/icons-react'
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from 'react'
import { formatShort } from '../../../components/format.ts'
import { useShortcut } from '../../../components/keyboard/use-shortcut.ts'
import { ForeignText, VisibleText } from '../../../components/text/foreign-text.tsx'
import { findHidden, visibleText } from '../../../components/text/visible-text.ts'
import type { TimeWindow } from '../../../url-state/time-range.ts'
import { useFieldValues } from '../use-logs.ts'
import { applyCompletion, type Completion, completeField, completionAt, hasValues } from './complete.ts'
import type { SearchProblem } from './expression.ts'
import type { FieldCatalog } from './field-catalog.ts'
import styles from './search-box.module.css'
import { translateSearch } from './to-query.ts'

export interface SearchBoxProps {
  readonly search: string
  /** `replace`: in the place of the search before, of which it is the end. */
  readonly onSearch: (search: string, options?: { readonly replace: boolean }) => void
  readonly catalog: FieldCatalog
  readonly window: TimeWindow
  readonly onHelp: () => void
}

interface Offer {
  readonly text: string
  readonly note: string
}

/** A search that can be read runs so long after the last key. */
const TYPING_MS = 400
/** A fault is told so long after the last key: the writer may be in the middle of a word. */
const PROBLEM_MS = 1_200

export function SearchBox({ search, onSearch, catalog, window, onHelp }: SearchBoxProps) {
  const { draft, setDraft, problem, run, endTyping, clear } = useDraft({ search, onSearch, catalog })
  const [completion, setCompletion] = useState<Completion>()
  const [chosen, setChosen] = useState(-1)
  const input = useRef<HTMLInputElement>(null)
  const id = useId()
  /** Once the text is shown; a key that was pressed meanwhile has moved the cursor already. */
  const putCursor = (text: string, at: number) =>
    requestAnimationFrame(() => {
      if (input.current?.value === text) input.current.setSelectionRange(at, at)
    })
  const goToEnd = () => {
    input.current?.focus()
    const text = endsWithWord(draft) ? `${draft} ` : draft
    if (text !== draft) setDraft(text)
    putCursor(text, text.length)
  }
  useShortcut('/', 'Search', goToEnd, { group: 'Logs' })

  const offers = useOffers(completion, catalog, window)
  const isOpen = completion !== undefined && offers.length > 0
  const lookAt = (element: HTMLInputElement) => {
    const cursor = element.selectionStart === element.selectionEnd ? element.selectionStart : null
    setCompletion(cursor === null ? undefined : completionAt(element.value, cursor))
    setChosen(-1)
  }
  const apply = (offer: Offer) => {
    if (completion === undefined) return
    const next = applyCompletion(draft, completion, offer.text)
    setDraft(next.text)
    setChosen(-1)
    setCompletion(completion.kind === 'value' ? undefined : completionAt(next.text, next.cursor))
    if (completion.kind === 'value') run(next.text)
    putCursor(next.text, next.cursor)
  }
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      if (!isOpen) return lookAt(event.currentTarget)
      event.preventDefault()
      const step = event.key === 'ArrowDown' ? 1 : -1
      setChosen(at => (at + step + offers.length + (at < 0 && step < 0 ? 1 : 0)) % offers.length)
    } else if (event.key === 'Enter' || (event.key === 'Tab' && chosen >= 0)) {
      event.preventDefault()
      if (isOpen && chosen >= 0) return apply(offers[chosen]!)
      setCompletion(undefined)
      run(draft)
      endTyping()
    } else if (event.key === 'Escape') {
      event.preventDefault()
      if (isOpen) setCompletion(undefined)
      else input.current?.blur()
    }
  }

  return (
    <div className={styles.box}>
      <search className={styles.field} data-problem={problem !== undefined}>
        <IconSearch size={16} aria-hidden />
        <input
          ref={input}
          role="combobox"
          aria-label="Search logs"
          aria-expanded={isOpen}
          aria-controls={`${id}-offers`}
          aria-activedescendant={isOpen && chosen >= 0 ? `${id}-${chosen}` : undefined}
          aria-autocomplete="list"
          aria-invalid={problem !== undefined}
          aria-describedby={problem === undefined ? undefined : `${id}-problem`}
          placeholder={'Search: timeout service:orders -level:INFO'}
          autoComplete="off"
          autoCapitalize="off"
          autoCorrect="off"
          spellCheck={false}
          maxLength={4_000}
          value={draft}
          onChange={event => {
            setDraft(event.currentTarget.value)
            lookAt(event.currentTarget)
          }}
          onClick={event => lookAt(event.currentTarget)}
          onKeyDown={onKeyDown}
          onBlur={() => {
            setCompletion(undefined)
            endTyping()
          }}
        />
        {draft !== '' && (
          <ActionIcon
            size="sm"
            aria-label="Clear the search"
            onClick={() => {
              clear()
              input.current?.focus()
            }}
          >
            <IconX size={15} />
          </ActionIcon>
        )}
        <kbd className={styles.key} aria-hidden>
          /
        </kbd>
        <Tooltip label="How to search">
          <ActionIcon size="sm" aria-label="How to search" onClick={onHelp}>
            <IconHelp size={16} />
          </ActionIcon>
        </Tooltip>
      </search>
      {isOpen && <Offers id={id} completion={completion} offers={offers} chosen={chosen} onChoose={apply} />}
      <Hidden draft={draft} />
      {problem !== undefined && <Problem id={`${id}-problem`} draft={draft} problem={problem} />}
    </div>
  )
}

/** Letters that are typed behind it would continue a word, or a value. Behind a colon they begin a value. */
const endsWithWord = (text: string): boolean => text !== '' && !/[\s:(]$/.test(text)

/** The text in the box, which runs as a search once it can be read and typing pauses. */
function useDraft({ search, onSearch, catalog }: Pick<SearchBoxProps, 'search' | 'onSearch' | 'catalog'>) {
  const [draft, setDraft] = useState(search)
  const [problem, setProblem] = useState(() => problemOf(search, catalog))
  /** The search that came from here, or was taken over last: what is typed meanwhile stays. */
  const sent = useRef(search)
  /** A pause in typing has run a search already: the next one takes its place, so that one step back leads to what was before. */
  const isUnderWay = useRef(false)
  const latestCatalog = useRef(catalog)
  latestCatalog.current = catalog
  // The search changed elsewhere: a filter, a saved view, a step back.
  useEffect(() => {
    if (search === sent.current) return
    sent.current = search
    isUnderWay.current = false
    setDraft(search)
    setProblem(problemOf(search, latestCatalog.current))
  }, [search])

  const run = (text: string) => {
    const found = problemOf(text, catalog)
    setProblem(found)
    if (found !== undefined || text.trim() === search) return
    sent.current = text.trim()
    onSearch(sent.current, { replace: isUnderWay.current })
    isUnderWay.current = true
  }
  const latestRun = useRef(run)
  latestRun.current = run
  useEffect(() => {
    if (draft.trim() === search) return
    const isReadable = translateSearch(draft, catalog).ok
    const timer = setTimeout(() => latestRun.current(draft), isReadable ? TYPING_MS : PROBLEM_MS)
    return () => clearTimeout(timer)
  }, [draft, search, catalog])

  return {
    draft,
    problem,
    run,
    setDraft(text: string) {
      setDraft(text)
      setProblem(undefined)
    },
    /** The next search does not take the place of this one. */
    endTyping() {
      isUnderWay.current = false
    },
    clear() {
      setDraft('')
      setProblem(undefined)
      sent.current = ''
      isUnderWay.current = false
      onSearch('')
    },
  }
}

interface OffersProps {
  readonly id: string
  readonly completion: Completion
  readonly offers: readonly Offer[]
  readonly chosen: number
  readonly onChoose: (offer: Offer) => void
}

function Offers({ id, completion, offers, chosen, onChoose }: OffersProps) {
  return (
    <div
      className={styles.offers}
      role="listbox"
      id={`${id}-offers`}
      aria-label={completion.kind === 'field' ? 'Fields' : `Values of ${completion.field}`}
    >
      {offers.map((offer, at) => (
        // biome-ignore lint/a11y/useFocusableInteractive: focus stays in the input, which names the active option
        // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the input
        <div
          key={offer.text}
          id={`${id}-${at}`}
          role="option"
          aria-selected={at === chosen}
          className={styles.offer}
          onMouseDown={event => event.preventDefault()}
          onClick={() => onChoose(offer)}
        >
          <span>
            <ForeignText text={offer.text} />
          </span>
          <small>{offer.note}</small>
        </div>
      ))}
    </div>
  )
}

/** Characters of the draft that show nothing. */
function Hidden({ draft }: { readonly draft: string }) {
  const hidden = useMemo(() => findHidden(draft), [draft])
  if (hidden === undefined) return null
  return (
    <p className={styles.hidden} role="status">
      Not seen in the search: {hidden.names.join(', ')}, in <code dir="auto">{hidden.around}</code>
    </p>
  )
}

function Problem({ id, draft, problem }: { readonly id: string; readonly draft: string; readonly problem: SearchProblem }) {
  return (
    <div className={styles.problem} id={id} role="alert">
      <span>
        <VisibleText text={problem.message} /> Write instead:{' '}
        <code>
          <ForeignText text={problem.instead} />
        </code>
      </span>
      <code className={styles.where} aria-hidden>
        {visibleText(draft.slice(Math.max(0, problem.at - 40), problem.at))}
        <mark>{visibleText(draft.slice(problem.at, Math.min(problem.end, problem.at + 60))) || ' '}</mark>
        {visibleText(draft.slice(problem.end, problem.end + 40))}
      </code>
    </div>
  )
}

function problemOf(search: string, catalog: FieldCatalog): SearchProblem | undefined {
  const translated = translateSearch(search, catalog)
  return translated.ok ? undefined : translated.problem
}

function useOffers(completion: Completion | undefined, catalog: FieldCatalog, window: TimeWindow): readonly Offer[] {
  const valueField = completion?.kind === 'value' && hasValues(catalog, completion.field) ? completion.field : undefined
  const values = useFieldValues(valueField, completion?.prefix ?? '', window, catalog)
  return useMemo(() => {
    if (completion === undefined) return []
    if (completion.kind === 'field')
      // Nothing is offered where nothing is typed: the list would hide what is below.
      return completion.prefix === ''
        ? []
        : completeField(completion.prefix, catalog).map(text => ({ text, note: catalog.get(text) ?? '' }))
    if (valueField === undefined) return []
    const wanted = completion.prefix.toLowerCase()
    const found = (values.data ?? []).filter(({ value }) => value.toLowerCase().startsWith(wanted))
    return found.filter(({ value }) => value !== completion.prefix).map(({ value, count }) => ({ text: value, note: formatShort(count) }))
  }, [completion, catalog, valueField, values.data])
}
