import { type ComponentType, lazy } from 'react'
import { type Problem, RequestProblem } from '../../api/problem.ts'

const NOT_LOADED: Problem = {
  message: 'This part of the console could not be loaded.',
  status: undefined,
  whatToDo:
    'Check that logpipeline runs and that this machine reaches it, then try again. After an update of logpipeline that loads the new console.',
}

/** A part of the console that is loaded when it is opened. */
export function lazyPart(load: () => Promise<{ readonly default: ComponentType }>): ComponentType {
  return lazy(() =>
    load().catch(cause => {
      throw new RequestProblem(NOT_LOADED, { cause })
    }),
  )
}
