import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { KubernetesObject } from '../../../dataplane/kube/object.ts'
import {
  DISTRIBUTED,
  messageOf,
  object,
  pipelineObject,
  progressing,
  running,
  SPEC,
  stalled,
  statusOf,
  summary,
  workload,
} from '../testing/status-of.ts'

const TYPE = 'AutoscalingReady'

function autoscaler(kind: string, component: string, conditions: readonly object[]): KubernetesObject {
  const scaled = object(kind, `shop-${component}`, { status: { conditions } })
  return { ...scaled, metadata: { ...scaled.metadata, labels: { 'app.kubernetes.io/component': component } } }
}
const hpa = (component: string, ...conditions: readonly object[]) => autoscaler('HorizontalPodAutoscaler', component, conditions)
const scaledObject = (component: string, ...conditions: readonly object[]) => autoscaler('ScaledObject', component, conditions)
const condition = (type: string, status: string, reason: string, message = '') => ({ type, status, reason, message })

const ABLE = condition('AbleToScale', 'True', 'ReadyForNewScale')
const ACTIVE = condition('ScalingActive', 'True', 'ValidMetricFound')
const FREE = condition('ScalingLimited', 'False', 'DesiredWithinRange')
const WELL = [ABLE, ACTIVE, FREE]
/** As a real API server without metrics-server has it. */
const NO_METRICS = condition(
  'ScalingActive',
  'False',
  'FailedGetResourceMetric',
  'the HPA was unable to compute the replica count: failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)',
)

describe('autoscaling of a LogPipeline', () => {
  const both = pipelineObject({ ...SPEC, collector: { autoscaling: { maxReplicas: 5 } }, bridge: { autoscaling: { maxReplicas: 6 } } })
  const look = (...objects: readonly KubernetesObject[]) => statusOf([both, ...running(DISTRIBUTED), ...objects])

  it('that is not asked for is not spoken of', () => {
    expect(summary(statusOf([pipelineObject(SPEC), ...running(DISTRIBUTED)]))).not.to.have.property(TYPE)
  })

  it('that works is ready', () => {
    const status = look(hpa('collector', ...WELL), hpa('bridge', ...WELL))
    expect(summary(status)).to.include({ Ready: 'True Ready', [TYPE]: 'True Scaling' })
    expect(messageOf(status, TYPE)).to.equal(
      'collector is scaled by HorizontalPodAutoscaler shop-collector; bridge is scaled by HorizontalPodAutoscaler shop-bridge',
    )
  })

  it('without metrics is not ready: the field, and what the cluster lacks; the pods serve all the same', () => {
    const status = look(hpa('collector', ABLE, NO_METRICS), hpa('bridge', ...WELL))
    expect(summary(status)).to.include({ Ready: 'True Ready', Stalled: 'False Settled', [TYPE]: 'False FailedGetResourceMetric' })
    expect(messageOf(status, TYPE))
      .to.match(
        /^spec\.collector\.autoscaling: expected HorizontalPodAutoscaler shop-collector to scale collector, seen: the HPA was unable/,
      )
      .and.to.match(/; the cluster has no metrics-server, which tells the CPU use of pods$/)
  })

  it('that may not scale its target is not ready', () => {
    const refused = condition(
      'AbleToScale',
      'False',
      'FailedUpdateScale',
      'the HPA controller was unable to update the target scale: forbidden',
    )
    expect(summary(look(hpa('collector', refused), hpa('bridge', ...WELL)))).to.include({ [TYPE]: 'False FailedUpdateScale' })
  })

  it('at its greatest number of pods names the field that limits it', () => {
    const limited = condition(
      'ScalingLimited',
      'True',
      'TooManyReplicas',
      'the desired replica count is more than the maximum replica count',
    )
    const status = look(hpa('collector', ...WELL), hpa('bridge', ABLE, ACTIVE, limited))
    expect(summary(status)).to.include({ Ready: 'True Ready', [TYPE]: 'True AtMaximum' })
    expect(messageOf(status, TYPE)).to.equal(
      'bridge: all 6 pods are in use and more are called for: spec.bridge.autoscaling.maxReplicas is the limit',
    )
  })

  it('at its least number of pods is well, and so is one of a component that somebody scaled to zero', () => {
    const idle = condition('ScalingLimited', 'True', 'TooFewReplicas')
    const off = condition('ScalingActive', 'False', 'ScalingDisabled', 'scaling is disabled since the replica count of the target is zero')
    expect(summary(look(hpa('collector', ABLE, ACTIVE, idle), hpa('bridge', ABLE, off)))).to.include({ [TYPE]: 'True Scaling' })
  })

  it('is not known while its pods are not ready, or nobody has looked at it yet', () => {
    const starting = statusOf([both, workload('collector', { replicas: 2, available: 0 }), hpa('collector', ABLE, NO_METRICS)])
    expect(summary(starting)).to.include({ ...progressing('RolloutInProgress'), [TYPE]: 'Unknown PodsNotReady' })
    expect(summary(look(hpa('collector'), hpa('bridge', ...WELL)))).to.include({ [TYPE]: 'Unknown NotChecked' })
    expect(summary(look(hpa('collector', ...WELL)))).to.include({ [TYPE]: 'Unknown Creating' })
  })

  describe('by KEDA', () => {
    const spec = { ...SPEC, stream: { enabled: true }, bridge: { autoscaling: { maxReplicas: 3, keda: true } } }
    const components = [...DISTRIBUTED, 'stream-etl', 'stream-score']
    const scaled = (...conditions: readonly object[]) =>
      statusOf([
        pipelineObject(spec),
        ...running(components),
        ...['bridge', 'stream-etl'].map(component => scaledObject(component, condition('Ready', 'True', 'ScaledObjectReady'))),
        scaledObject('stream-score', ...conditions),
      ])

    it('that is not installed stalls', () => {
      const status = statusOf([pipelineObject(spec), ...running(components)], { servedApis: {} })
      expect(summary(status)).to.include(stalled('KedaNotInstalled'))
    })

    it('that works is ready', () => {
      expect(
        summary(scaled(condition('Ready', 'True', 'ScaledObjectReady'), condition('Fallback', 'False', 'NoFallbackFound'))),
      ).to.include({
        Ready: 'True Ready',
        [TYPE]: 'True Scaling',
      })
    })

    it('that cannot read the lag says so, with the field that asked for it', () => {
      const status = scaled(
        condition('Ready', 'False', 'ScaledObjectCheckFailed', 'Triggers defined in ScaledObject are not working correctly'),
      )
      expect(summary(status)).to.include({ Ready: 'True Ready', [TYPE]: 'False ScaledObjectCheckFailed' })
      expect(messageOf(status, TYPE)).to.equal(
        'spec.bridge.autoscaling: expected ScaledObject shop-stream-score to scale stream-score, seen: Triggers defined in ScaledObject are not working correctly',
      )
      const fallback = scaled(
        condition('Ready', 'True', 'ScaledObjectReady'),
        condition('Fallback', 'True', 'FallbackExists', 'at least one trigger is falling back'),
      )
      expect(summary(fallback)).to.include({ [TYPE]: 'False FallbackExists' })
    })
  })
})
