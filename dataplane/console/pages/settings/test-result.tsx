import { IconCircleCheck, IconCircleX } from '@tabler/icons-react'
import { problemOf } from '../../api/problem.ts'
import type { TestAnswer } from '../../api/ticketing-config.ts'
import { VisibleText } from '../../components/text/foreign-text.tsx'
import styles from './section.module.css'

export interface TestResultProps {
  readonly answer: TestAnswer | undefined
  readonly error: unknown
}

/** The result of a test; nothing before the first one. */
export function TestResult({ answer, error }: TestResultProps) {
  const isOk = answer?.status === 'ok' && error === null
  const text = error !== null && error !== undefined ? problemOf(error).message : answer?.message
  return (
    <div role="status">
      {text !== undefined && (
        <p className={isOk ? styles.testOk : styles.testFailed}>
          {isOk ? <IconCircleCheck size={16} aria-hidden /> : <IconCircleX size={16} aria-hidden />}
          <span>
            {isOk ? 'It works: ' : 'It does not work: '}
            <VisibleText text={text} />
          </span>
        </p>
      )}
    </div>
  )
}
