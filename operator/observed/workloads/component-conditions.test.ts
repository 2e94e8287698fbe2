import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { KubernetesObject } from '../../../dataplane/kube/object.ts'
import {
  DISTRIBUTED,
  messageOf,
  pipelineObject,
  pod,
  progressing,
  running,
  SPEC,
  stalled,
  statusOf,
  summary,
  workload,
} from '../testing/status-of.ts'

describe('components of a LogPipeline', () => {
  const waiting = (reason: string, message: string) => ({ containerStatuses: [{ state: { waiting: { reason, message } } }] })
  const others = running(['collector', 'ticketing', 'agent'])
  const LATE = [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }]
  const crashed = { terminated: { reason: 'Error', exitCode: 78, message: 'BUS_BROKERS: expected brokers' } }

  const paused = ({ spec, ...object }: KubernetesObject & { readonly spec?: object }) => ({
    ...object,
    metadata: { ...object.metadata, namespace: 'observability' },
    spec: { ...spec, paused: true },
  })

  /** As a real API server says it. */
  const REFUSED: readonly (readonly [title: string, message: string, advice: string])[] = [
    [
      'a quota for what is not given',
      'pods "b" is forbidden: failed quota: q: must specify limits.memory for: bridge',
      'the ResourceQuota of the namespace asks for amounts that are not given: spec.bridge.resources',
    ],
    [
      'a request above the default limit of a LimitRange',
      'Pod "b" is invalid: spec.containers[0].resources.requests: Invalid value: "384Mi": must be less than or equal to memory limit of 100Mi',
      'a LimitRange of the namespace bounds pods: expected spec.bridge.resources within it',
    ],
    [
      'the maximum of a LimitRange',
      'pods "b" is forbidden: maximum memory usage per Container is 2Gi, but limit is 3Gi',
      'a LimitRange of the namespace bounds pods: expected spec.bridge.resources within it',
    ],
    [
      'Pod Security',
      'pods "b" is forbidden: violates PodSecurity "restricted:latest": restricted volume types',
      'the namespace asks for more than the pods keep to: see its labels pod-security.kubernetes.io/…',
    ],
    [
      'a PriorityClass that is not there',
      'pods "b" is forbidden: no PriorityClass with name nope was found',
      'spec.podTemplate.priorityClassName: expected a PriorityClass of the cluster',
    ],
    [
      'a RuntimeClass that is not there',
      'pods "b" is forbidden: pod rejected: RuntimeClass "nope" not found',
      'spec.podTemplate.runtimeClassName: expected a RuntimeClass of the cluster',
    ],
  ]

  const CASES: readonly (readonly [name: string, objects: readonly KubernetesObject[], summary: object, message: string])[] = [
    [
      'that are rolled out right now',
      [workload('bridge', { updated: 1, available: 1, total: 2 })],
      { ...progressing('RolloutInProgress'), BridgeAvailable: 'True RolloutInProgress' },
      'bridge: 1 of 1 pods are ready; 1 of the newest version',
    ],
    [
      'whose change is not seen yet',
      [{ ...workload('bridge'), metadata: { ...workload('bridge').metadata, generation: 9 } }],
      progressing('RolloutInProgress'),
      'bridge: 1 of 1 pods are ready; 1 of the newest version',
    ],
    [
      'that make no progress',
      [workload('bridge', { available: 0 }, LATE)],
      { ...stalled('ProgressDeadlineExceeded'), BridgeAvailable: 'False ProgressDeadlineExceeded' },
      'bridge: 0 of 1 pods are ready; 1 of the newest version; no progress within the deadline',
    ],
    [
      'whose roll-out somebody paused',
      [paused(workload('bridge', { updated: 0 }))],
      { ...stalled('RolloutPaused'), BridgeAvailable: 'True RolloutPaused' },
      'bridge: 1 of 1 pods are ready; 0 of the newest version; the roll-out is paused (spec.paused of the Deployment): `kubectl rollout resume deployment shop-bridge --namespace observability` lets it go on',
    ],
    [
      'whose roll-out somebody paused, and whose pods crash',
      [paused(workload('bridge', { available: 0 })), pod('bridge', waiting('CrashLoopBackOff', 'back-off'))],
      { ...progressing('CrashLooping'), BridgeAvailable: 'False CrashLooping' },
      'bridge: 0 of 1 pods are ready; 1 of the newest version; pod shop-bridge-x: ended 0 times',
    ],
    [
      'that are rolled out and paused since',
      [paused(workload('bridge'))],
      { Ready: 'True Ready', Reconciling: 'False Settled', Stalled: 'False Settled', BridgeAvailable: 'True Available' },
      'bridge: 1 of 1 pods are ready',
    ],
    [
      'whose image cannot be pulled',
      [workload('bridge', { available: 0 }), pod('bridge', waiting('ErrImagePull', 'no such image'))],
      { ...progressing('ImagePullBackOff'), BridgeAvailable: 'False ImagePullBackOff' },
      'bridge: 0 of 1 pods are ready; 1 of the newest version; pod shop-bridge-x: no such image; expected an image that the nodes can pull: spec.image, spec.podTemplate.imagePullSecrets',
    ],
    [
      'whose image cannot be pulled, for too long',
      [workload('bridge', { available: 0 }, LATE), pod('bridge', waiting('ImagePullBackOff', 'back-off'))],
      { ...stalled('ImagePullBackOff'), Stalled: 'True ProgressDeadlineExceeded' },
      'bridge: 0 of 1 pods are ready; 1 of the newest version; pod shop-bridge-x: back-off; expected an image that the nodes can pull: spec.image, spec.podTemplate.imagePullSecrets; no progress within the deadline',
    ],
    [
      'whose new image cannot be pulled, while the old pods serve',
      [workload('bridge', { available: 1, total: 2 }), pod('bridge', waiting('ImagePullBackOff', 'back-off'))],
      { ...progressing('ImagePullBackOff'), BridgeAvailable: 'True ImagePullBackOff' },
      'bridge: 1 of 1 pods are ready; 1 of the newest version; pod shop-bridge-x: back-off; expected an image that the nodes can pull: spec.image, spec.podTemplate.imagePullSecrets',
    ],
    [
      'that crash',
      [
        workload('bridge', { available: 0 }),
        pod('bridge', { containerStatuses: [{ restartCount: 4, state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: crashed }] }),
      ],
      progressing('CrashLooping'),
      'bridge: 0 of 1 pods are ready; 1 of the newest version; pod shop-bridge-x: ended 4 times, the last time exit code 78: BUS_BROKERS: expected brokers',
    ],
    [
      'that crash with a long log, of which the end tells why',
      [
        workload('bridge', { available: 0 }),
        pod('bridge', {
          containerStatuses: [
            {
              restartCount: 4,
              state: { waiting: { reason: 'CrashLoopBackOff' } },
              lastState: { terminated: { exitCode: 1, message: `${'begins\n'.repeat(200)}SEARCH_ENDPOINT: expected a URL\nends\n` } },
            },
          ],
        }),
      ],
      progressing('CrashLooping'),
      `bridge: 0 of 1 pods are ready; 1 of the newest version; pod shop-bridge-x: ended 4 times, the last time exit code 1: … ${`${'begins; '.repeat(200)}SEARCH_ENDPOINT: expected a URL; ends`.slice(-498)}`,
    ],
    [
      'that run between two crashes',
      [
        workload('bridge', { available: 0 }),
        pod('bridge', {
          containerStatuses: [{ restartCount: 2, state: {}, lastState: { terminated: { reason: 'OOMKilled', exitCode: 137 } } }],
        }),
      ],
      progressing('CrashLooping'),
      'bridge: 0 of 1 pods are ready; 1 of the newest version; pod shop-bridge-x: ended 2 times, the last time OOMKilled, exit code 137',
    ],
    [
      'that fit on no node',
      [
        workload('bridge', { available: 0 }),
        pod('bridge', {
          conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes are available' }],
        }),
      ],
      progressing('Unschedulable'),
      'bridge: 0 of 1 pods are ready; 1 of the newest version; pod shop-bridge-x: 0/3 nodes are available',
    ],
    [
      'whose files cannot be mounted',
      [workload('bridge', { available: 0 }), pod('bridge', waiting('CreateContainerConfigError', 'secret "a" not found'))],
      progressing('CreateContainerConfigError'),
      'bridge: 0 of 1 pods are ready; 1 of the newest version; pod shop-bridge-x: secret "a" not found',
    ],
    [
      'whose pods are refused',
      [
        workload('bridge', { updated: 0, available: 0 }, [
          { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'exceeded quota' },
        ]),
      ],
      progressing('FailedCreate'),
      'bridge: 0 of 1 pods are ready; 0 of the newest version; exceeded quota; the ResourceQuota of the namespace is used up: raise it, or ask for less in spec.bridge.resources',
    ],
    ...REFUSED.map(
      ([title, message, advice]) =>
        [
          `whose pods are refused: ${title}`,
          [workload('bridge', { updated: 0, available: 0 }, [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message }])],
          { ...stalled('FailedCreate'), BridgeAvailable: 'False FailedCreate' },
          `bridge: 0 of 1 pods are ready; 0 of the newest version; ${message}; ${advice}`,
        ] as const,
    ),
    [
      'whose pods are refused by a policy of somebody else',
      [
        workload('bridge', { updated: 0, available: 0 }, [
          { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'admission webhook "a" denied the request' },
        ]),
      ],
      progressing('FailedCreate'),
      'bridge: 0 of 1 pods are ready; 0 of the newest version; admission webhook "a" denied the request',
    ],
    [
      'that a scheduler should place which is not there',
      [workload('bridge', { available: 0 }), { ...pod('bridge', { phase: 'Pending' }), spec: { schedulerName: 'packing' } }],
      progressing('Unschedulable'),
      'bridge: 0 of 1 pods are ready; 1 of the newest version; pod shop-bridge-x: no scheduler has looked at it yet; spec.podTemplate.schedulerName: expected one that runs',
    ],
    [
      'that the scheduler has not looked at yet',
      [workload('bridge', { available: 0 }), { ...pod('bridge', { phase: 'Pending' }), spec: { schedulerName: 'default-scheduler' } }],
      progressing('PodsNotReady'),
      'bridge: 0 of 1 pods are ready; 1 of the newest version; pod shop-bridge-x: is not ready yet',
    ],
    [
      'whose pod was evicted, while there is no other yet',
      [
        workload('bridge', { available: 0 }),
        pod('bridge', { phase: 'Failed', reason: 'Evicted', message: 'The node was low on resource: memory.' }),
      ],
      { ...progressing('Evicted'), BridgeAvailable: 'False Evicted' },
      'bridge: 0 of 1 pods are ready; 1 of the newest version; pod shop-bridge-x: The node was low on resource: memory.',
    ],
    [
      'whose pod was evicted, and the one in its place fits nowhere',
      [
        workload('bridge', { available: 0 }),
        pod('bridge', { phase: 'Failed', reason: 'Evicted' }),
        {
          ...pod('bridge', { phase: 'Pending', conditions: [{ type: 'Ready', status: 'False', message: 'starting' }] }),
          metadata: { ...pod('bridge', {}).metadata, name: 'shop-bridge-y' },
        },
      ],
      progressing('PodsNotReady'),
      'bridge: 0 of 1 pods are ready; 1 of the newest version; pod shop-bridge-y: starting',
    ],
    [
      'that are not ready yet',
      [
        workload('bridge', { available: 0 }),
        pod('bridge', { conditions: [{ type: 'Ready', status: 'False', message: 'containers with unready status: [bridge]' }] }),
      ],
      progressing('PodsNotReady'),
      'bridge: 0 of 1 pods are ready; 1 of the newest version; pod shop-bridge-x: containers with unready status: [bridge]',
    ],
    [
      'that are scaled to zero',
      [workload('bridge', { replicas: 0 })],
      { Ready: 'True Ready', BridgeAvailable: 'True ScaledToZero' },
      'bridge is scaled to zero',
    ],
  ]
  for (const [name, objects, expected, message] of CASES) {
    it(name, () => {
      const status = statusOf([pipelineObject(SPEC), ...others, ...objects])
      expect(summary(status)).to.include(expected)
      expect(messageOf(status, 'BridgeAvailable')).to.equal(message)
    })
  }

  it('pods that were evicted some day and stay in the list are none of the trouble', () => {
    const status = statusOf([pipelineObject(SPEC), ...others, workload('bridge'), pod('bridge', { phase: 'Failed', reason: 'Evicted' })])
    expect(summary(status)).to.include({ Ready: 'True Ready', BridgeAvailable: 'True Available' })
    expect(status.components?.['bridge']).not.to.have.property('message')
  })

  it('pods beyond the least of an autoscaler do not count against it', () => {
    const spec = { ...SPEC, collector: { autoscaling: { minReplicas: 2, maxReplicas: 9 } } }
    const status = statusOf([
      pipelineObject(spec),
      workload('collector', { replicas: 5, available: 3 }),
      ...running(['bridge', 'ticketing', 'agent']),
    ])
    expect(summary(status)).to.include({ Ready: 'True Ready', CollectorAvailable: 'True Available' })
    expect(status.components).to.deep.include({ collector: { desired: 5, ready: 3, updated: 5, image: 'logpipeline:1' } })
  })

  it('the two stream jobs share a condition, which tells of the worse', () => {
    const spec = { ...SPEC, stream: { enabled: true } }
    const status = statusOf([pipelineObject(spec), ...running([...DISTRIBUTED, 'stream-etl']), workload('stream-score', { available: 0 })])
    expect(summary(status)).to.include({ ...progressing('RolloutInProgress'), StreamJobsRunning: 'False RolloutInProgress' })
    expect(messageOf(status, 'StreamJobsRunning')).to.match(/^stream-score: 0 of 1/)
  })

  it('a pod whose volume is not there names its claim', () => {
    const unbound = {
      conditions: [
        { type: 'PodScheduled', status: 'False', message: '0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims' },
      ],
    }
    const waiting = pod('standalone', unbound)
    const status = statusOf([
      pipelineObject({ mode: 'AllInOne' }),
      workload('standalone', { available: 0 }),
      { ...waiting, metadata: { ...waiting.metadata, name: 'shop-0', namespace: 'ns' } },
    ])
    expect(summary(status)).to.include(progressing('Unschedulable'))
    expect(messageOf(status, 'Ready')).to.contain(
      'PersistentVolumeClaims; `kubectl describe pvc data-shop-0 --namespace ns` says why: expected a storage class that makes volumes',
    )
  })

  it('a StatefulSet that has not replaced its pod is not rolled out', () => {
    const sts = workload('standalone')
    const status = statusOf([
      pipelineObject({ mode: 'AllInOne' }),
      { ...sts, status: { ...sts.status, currentRevision: 'a', updateRevision: 'b' } },
    ])
    expect(summary(status)).to.include({ ...progressing('RolloutInProgress'), StandaloneAvailable: 'True RolloutInProgress' })
  })

  describe('a StatefulSet without any pod', () => {
    const NO_PODS = { available: 0, total: 0, updated: 0 }
    const statusWith = (counts: object, status: object = {}) => {
      const sts = workload('standalone', { ...NO_PODS, ...counts })
      const metadata = { ...sts.metadata, name: 'shop', namespace: 'ns' }
      return statusOf([pipelineObject({ mode: 'AllInOne' }), { ...sts, metadata, status: { ...sts.status, ...status } }])
    }

    it('had its pod refused: its own status never says why, so the message says where to look', () => {
      const status = statusWith({})
      expect(summary(status)).to.include({ ...progressing('FailedCreate'), StandaloneAvailable: 'False FailedCreate' })
      expect(messageOf(status, 'Ready')).to.equal(
        'standalone: 0 of 1 pods are ready; 0 of the newest version; no pod could be made: `kubectl describe statefulset shop --namespace ns` says why, such as a quota, a limit range or a policy',
      )
    })

    it('may still get one while its controller has not looked at it, and wants none when it is scaled to zero', () => {
      for (const observedGeneration of [undefined, 1])
        expect(summary(statusWith({}, { observedGeneration }))).to.include(progressing('RolloutInProgress'))
      expect(summary(statusWith({ replicas: 0 }))).to.include({ StandaloneAvailable: 'True ScaledToZero' })
    })
  })

  describe('in mode AllInOne, whose StatefulSet knows no deadline', () => {
    const AT = '2026-11-21T12:00:00Z'
    const atMs = Date.parse(AT)
    const agoText = (minutes: number) => new Date(atMs - minutes * 60_000).toISOString().replace('.000', '')
    const condition = (type: string, status: string, minutesAgo: number) => {
      return { type, status, reason: 'X', message: '', observedGeneration: 3, lastTransitionTime: agoText(minutesAgo) }
    }
    const statusBefore = (...conditions: readonly object[]) => ({ observedGeneration: 3, inputsHash: 'h', conditions })
    const backingOff = [workload('standalone', { available: 0 }), pod('standalone', waiting('ImagePullBackOff', 'back-off'))]
    const statusAfter = (status: object, objects: readonly KubernetesObject[] = backingOff) =>
      statusOf([{ ...pipelineObject({ mode: 'AllInOne' }), status } as KubernetesObject, ...objects])
    const unavailable = (minutes: number) => [condition('Ready', 'False', minutes), condition('StandaloneAvailable', 'False', minutes)]

    it('are stalled once their pod has not started for ten minutes, and say why', () => {
      expect(summary(statusAfter(statusBefore(...unavailable(9.9), condition('Stalled', 'False', 99))))).to.include(
        progressing('ImagePullBackOff'),
      )
      const late = statusAfter(statusBefore(...unavailable(10), condition('Stalled', 'False', 99)))
      expect(summary(late)).to.include({
        ...stalled('ImagePullBackOff'),
        Stalled: 'True ProgressDeadlineExceeded',
        StandaloneAvailable: 'False ImagePullBackOff',
      })
      expect(messageOf(late, 'Stalled')).to.match(/pod shop-standalone-x: back-off; expected an image .*; no progress within the deadline$/)
    })

    it('stay stalled, from status to status', () => {
      const twoDays = statusBefore(...unavailable(2880), condition('Stalled', 'True', 2870))
      expect(summary(statusAfter(twoDays))).to.include({ Stalled: 'True ProgressDeadlineExceeded' })
    })

    it('are stalled without any pod, too, and with one that never becomes ready', () => {
      for (const objects of [[workload('standalone', { available: 0, total: 0, updated: 0 })], [workload('standalone', { available: 0 })]])
        expect(summary(statusAfter(statusBefore(...unavailable(11)), objects))).to.include({ Stalled: 'True ProgressDeadlineExceeded' })
    })

    it('have all the time again after a change of the resource or of its Secrets', () => {
      const stuck = statusBefore(...unavailable(2880), condition('Stalled', 'True', 2870))
      const changed = statusAfter({ ...stuck, observedGeneration: 2 })
      expect(summary(changed)).to.include(progressing('ImagePullBackOff'))
      expect(changed.conditions?.find(({ type }) => type === 'Stalled')?.lastTransitionTime).to.equal(AT)
      expect(summary(statusAfter({ ...stuck, inputsHash: 'other' }))).to.include({ Stalled: 'False Progressing' })
      const since = statusBefore(...unavailable(2880), condition('Stalled', 'False', 9))
      expect(summary(statusAfter(since))).to.include({ Stalled: 'False Progressing' })
    })

    it('recover when the pod does, and are not stalled while it serves', () => {
      const stuck = statusBefore(...unavailable(2880), condition('Stalled', 'True', 2870))
      expect(summary(statusAfter(stuck, [workload('standalone')]))).to.include({ Ready: 'True Ready', Stalled: 'False Settled' })
      const well = statusBefore(condition('Ready', 'True', 2880), condition('StandaloneAvailable', 'True', 2880))
      expect(summary(statusAfter(well))).to.include({ Stalled: 'False Progressing' })
    })

    it('are not stalled by what was before there was a status', () => {
      expect(summary(statusAfter({}))).to.include({ Stalled: 'False Progressing' })
      expect(summary(statusAfter({ conditions: [condition('Ready', 'Unknown', 2880)] }))).to.include({ Stalled: 'False Progressing' })
    })
  })
})
