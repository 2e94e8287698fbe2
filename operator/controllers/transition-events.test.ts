import { expect } from 'chai'
import { describe, it } from 'mocha'
import { configMap } from '../../dataplane/kube/testing/resources.ts'
import type { Condition } from '../api/status.ts'
import { createTransitionEvents } from './transition-events.ts'

const is = (type: string, status: Condition['status'], reason: string): Condition => ({
  type,
  status,
  reason,
  message: 'why',
  lastTransitionTime: '2026-01-01T00:00:00Z',
})

describe('Events', () => {
  const cases: readonly { name: string; before: readonly Condition[]; after: readonly Condition[]; expected: readonly string[] }[] = [
    {
      name: 'one for something new that is on its way',
      before: [],
      after: [
        is('Ready', 'False', 'Progressing'),
        is('Reconciling', 'True', 'Progressing'),
        is('CollectorAvailable', 'False', 'Progressing'),
      ],
      expected: ['Normal Progressing'],
    },
    {
      name: 'a warning for what somebody has to see to',
      before: [],
      after: [is('Ready', 'False', 'MissingSecret'), is('Stalled', 'True', 'MissingSecret'), is('SecretsSynced', 'False', 'MissingSecret')],
      expected: ['Warning MissingSecret'],
    },
    {
      name: 'each cause of not being ready',
      before: [is('Ready', 'False', 'Progressing')],
      after: [is('Ready', 'False', 'ImagePullBackOff'), is('Stalled', 'True', 'ImagePullBackOff')],
      expected: ['Warning ImagePullBackOff'],
    },
    {
      name: 'one for one cause, though a part that was well is not well for it',
      before: [is('Ready', 'True', 'Ready'), is('SecretsSynced', 'True', 'Synced'), is('AgentAvailable', 'True', 'Available')],
      after: [
        is('Ready', 'False', 'MissingSecret'),
        is('Stalled', 'True', 'MissingSecret'),
        is('SecretsSynced', 'False', 'MissingSecret'),
        is('AgentAvailable', 'False', 'CrashLooping'),
      ],
      expected: ['Warning MissingSecret', 'Warning CrashLooping'],
    },
    {
      name: 'one for a route whose Secret is gone',
      before: [is('Ready', 'True', 'Ready'), is('CredentialsReady', 'True', 'Found')],
      after: [is('Ready', 'False', 'MissingSecret'), is('CredentialsReady', 'False', 'MissingSecret')],
      expected: ['Warning MissingSecret'],
    },
    {
      name: 'what went and what came back',
      before: [is('BusReady', 'True', 'Connected'), is('SearchReady', 'False', 'Disconnected')],
      after: [is('BusReady', 'False', 'Disconnected'), is('SearchReady', 'True', 'Connected')],
      expected: ['Warning Disconnected', 'Normal Connected'],
    },
    {
      name: 'none for the parts of what is on its way, which are told of together once it is ready',
      before: [is('Ready', 'False', 'Progressing'), is('CollectorAvailable', 'False', 'Progressing')],
      after: [is('Ready', 'False', 'Progressing'), is('Reconciling', 'True', 'Progressing'), is('CollectorAvailable', 'True', 'Available')],
      expected: [],
    },
    {
      name: 'a pause and its end, but not that there is none',
      before: [],
      after: [is('Paused', 'False', 'NotPaused')],
      expected: [],
    },
    { name: 'a pause', before: [is('Paused', 'False', 'NotPaused')], after: [is('Paused', 'True', 'Paused')], expected: ['Normal Paused'] },
    {
      name: 'a warning for a route that is not used, which has no condition Stalled',
      before: [is('Ready', 'True', 'NotSelected'), is('Dispatching', 'False', 'NotSelected')],
      after: [is('Ready', 'False', 'MissingSecret'), is('Dispatching', 'False', 'MissingSecret')],
      expected: ['Warning MissingSecret'],
    },
    {
      name: 'a warning for the first ticket of a route, where it fails',
      before: [is('Ready', 'True', 'Ready'), is('Dispatching', 'Unknown', 'NothingToSend')],
      after: [is('Ready', 'True', 'Ready'), is('Dispatching', 'False', 'Failing')],
      expected: ['Warning Failing'],
    },
    {
      name: 'none for the first ticket of a route, where it arrives',
      before: [is('Ready', 'True', 'Ready'), is('Dispatching', 'Unknown', 'NothingToSend')],
      after: [is('Ready', 'True', 'Ready'), is('Dispatching', 'True', 'Sent')],
      expected: [],
    },
    {
      name: 'none for another word, time or message of what stays as it was',
      before: [is('BusReady', 'False', 'TopicNotReady')],
      after: [{ ...is('BusReady', 'False', 'KafkaNotReady'), message: 'other' }],
      expected: [],
    },
  ]
  for (const { name, before, after, expected } of cases)
    it(`are transitions only: ${name}`, () => {
      const seen: string[] = []
      createTransitionEvents({ record: (_about, { type, reason }) => void seen.push(`${type} ${reason}`) })(configMap('a'), before, after)
      expect(seen).to.deep.equal(expected)
    })
})
