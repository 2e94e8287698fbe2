import type { ChartSeries } from '../../../components/stack.ts'
import type { Histogram } from '../requests/histogram.ts'
import { LEVELS, type Level } from './level.ts'

const COLORS: Readonly<Record<Level, string>> = {
  FATAL: '--chart-fatal',
  ERROR: '--chart-error',
  WARN: '--chart-warn',
  INFO: '--chart-info',
  DEBUG: '--chart-debug',
  TRACE: '--chart-trace',
  OTHER: '--line-strong',
}

/** The most severe on top; levels without a record are left out. */
export function histogramSeries({ counts }: Histogram): readonly ChartSeries[] {
  return LEVELS.filter(level => counts[level].some(count => count > 0)).map(level => ({
    name: level === 'OTHER' ? 'other' : level,
    color: COLORS[level],
    values: counts[level],
  }))
}
