import { readFileSync } from 'node:fs'

/** Linux counts in hundredths of a second. */
const MS_PER_TICK = 10
/** The fields cutime and cstime of proc_pid_stat(5), counted from the one after the name in parentheses. */
const CHILDREN_USER = 13
const CHILDREN_SYSTEM = 14

/** CPU time of all processes that this one and its children have seen end; undefined outside Linux. */
export function childrenCpuMs(): number | undefined {
  if (process.platform !== 'linux') return undefined
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[CHILDREN_USER]) + Number(fields[CHILDREN_SYSTEM])) * MS_PER_TICK
}
