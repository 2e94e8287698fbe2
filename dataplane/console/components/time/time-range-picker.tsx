/** Chooses the time range of the page: relative by one click or in words, absolute by two times. */
import { Button, Group, Popover, Stack, Text, TextInput } from '@mantine/core'
import { IconCalendarTime, IconChevronDown } from '@tabler/icons-react'
import { type FormEvent, useState } from 'react'
import { serverNow } from '../../api/server-clock.ts'
import {
  absoluteRange,
  DEFAULT_RANGE,
  fromLocalInput,
  relativeRange,
  sayTimeRange,
  type TimeRange,
  toLocalInput,
  windowOf,
} from '../../url-state/time-range.ts'
import { useTimeRange } from '../../url-state/use-time-range.ts'
import { useShortcut } from '../keyboard/use-shortcut.ts'
import { zoneName } from './clock.ts'

const OFFERED = ['5m', '15m', '30m', '1h', '3h', '6h', '12h', '1d', '2d', '7d', '14d', '30d'] as const

/** `usual`: as for `useTimeRange`. */
export function TimeRangePicker({ usual = DEFAULT_RANGE }: { readonly usual?: TimeRange }) {
  const [range, setRange] = useTimeRange(usual)
  const [isOpen, setOpen] = useState(false)
  useShortcut('t', 'Choose the time range', () => setOpen(true))
  const choose = (next: TimeRange) => {
    setRange(next)
    setOpen(false)
  }
  return (
    <Popover
      opened={isOpen}
      onChange={setOpen}
      position="bottom-end"
      width="min(320px, calc(100vw - 16px))"
      trapFocus
      returnFocus
      shadow="md"
    >
      <Popover.Target>
        <Button
          variant="default"
          leftSection={<IconCalendarTime size={15} aria-hidden />}
          rightSection={<IconChevronDown size={13} aria-hidden />}
          onClick={() => setOpen(open => !open)}
          aria-label={`Time range: ${sayTimeRange(range)}`}
        >
          {sayTimeRange(range)}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Time range">
        {isOpen && <RangeForm key={zoneName()} range={range} onChoose={choose} />}
      </Popover.Dropdown>
    </Popover>
  )
}

function RangeForm({ range, onChoose }: { readonly range: TimeRange; readonly onChoose: (range: TimeRange) => void }) {
  const [window] = useState(() => windowOf(range, serverNow()))
  const [relative, setRelative] = useState('')
  const [from, setFrom] = useState(toLocalInput(window.fromMs))
  const [to, setTo] = useState(toLocalInput(window.toMs))
  const [problem, setProblem] = useState<{ readonly field: 'relative' | 'absolute'; readonly text: string }>()

  const submitRelative = (event: FormEvent) => {
    event.preventDefault()
    const chosen = relativeRange(relative)
    if (chosen === undefined) setProblem({ field: 'relative', text: 'Expected a number and s, m, h, d or w, such as 45m' })
    else onChoose(chosen)
  }
  const submitAbsolute = (event: FormEvent) => {
    event.preventDefault()
    const chosen = absoluteRange(fromLocalInput(from, window.fromMs), fromLocalInput(to, window.toMs))
    if (chosen === undefined) setProblem({ field: 'absolute', text: 'Expected two times from 1900 to 2599, the first before the second' })
    else onChoose(chosen)
  }
  return (
    <Stack gap="sm">
      <Group gap={6}>
        {OFFERED.map(text => (
          <Button
            key={text}
            size="compact-xs"
            variant={range.kind === 'relative' && range.text === text ? 'filled' : 'default'}
            onClick={() => onChoose(relativeRange(text)!)}
          >
            {text}
          </Button>
        ))}
      </Group>
      <form onSubmit={submitRelative}>
        <Group gap="xs" align="flex-end" wrap="nowrap">
          <TextInput
            label="Up to now"
            placeholder="45m"
            value={relative}
            error={problem?.field === 'relative' && problem.text}
            onChange={event => setRelative(event.currentTarget.value)}
            flex={1}
          />
          <Button type="submit" variant="default">
            Apply
          </Button>
        </Group>
      </form>
      <form onSubmit={submitAbsolute}>
        <Stack gap="xs">
          <TextInput label="From" type="datetime-local" step={1} value={from} onChange={event => setFrom(event.currentTarget.value)} />
          <TextInput
            label="To"
            type="datetime-local"
            step={1}
            value={to}
            error={problem?.field === 'absolute' && problem.text}
            onChange={event => setTo(event.currentTarget.value)}
          />
          <Group justify="space-between">
            <Text size="xs" c="dimmed">
              {zoneName()}
            </Text>
            <Button type="submit" variant="default">
              Apply
            </Button>
          </Group>
        </Stack>
      </form>
    </Stack>
  )
}
