/** Conditions as tests on rows of counts, each of which stands for many documents. */
import type { Condition } from '../bind/condition.ts'

export type RowTest<Row> = (row: Row) => boolean

type Leaf = Exclude<Condition, { op: 'all' | 'none' | 'scored' | 'not' | 'and' | 'or' }>

/** Undefined where single documents of one row may differ, which `testLeaf` says of the conditions that look at fields. */
export function rowTest<Row>(condition: Condition, testLeaf: (leaf: Leaf) => RowTest<Row> | undefined): RowTest<Row> | undefined {
  switch (condition.op) {
    case 'all':
      return () => true
    case 'none':
      return () => false
    case 'scored':
      return rowTest(condition.of, testLeaf)
    case 'not': {
      const inner = rowTest(condition.of, testLeaf)
      return inner === undefined ? undefined : row => !inner(row)
    }
    case 'and': {
      const tests = condition.of.map(each => rowTest(each, testLeaf))
      return tests.every(test => test !== undefined) ? row => tests.every(test => test(row)) : undefined
    }
    case 'or': {
      const tests = condition.of.map(each => rowTest(each, testLeaf))
      if (!tests.every(test => test !== undefined)) return undefined
      return row => tests.reduce((held, test) => held + Number(test(row)), 0) >= condition.atLeast
    }
    default:
      return testLeaf(condition)
  }
}
