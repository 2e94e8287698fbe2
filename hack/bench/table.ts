/** Text tables for the terminal and for Markdown: the first column to the left, the others to the right. */
export function formatTable(header: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const cells = [header, ...rows].map(row => row.map(cell => (typeof cell === 'number' ? formatNumber(cell) : cell)))
  const widths = header.map((_, column) => Math.max(...cells.map(row => row[column]?.length ?? 0)))
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join(' | ')} |`
  const rule = `|${widths.map((width, i) => (i === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`
  return [line(cells[0]!), rule, ...cells.slice(1).map(line)].join('\n')
}

/** Three significant digits at least, thousands apart. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return '–'
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return value.toLocaleString('en-US', { maximumFractionDigits: digits, minimumFractionDigits: Number.isInteger(value) ? 0 : digits })
}
