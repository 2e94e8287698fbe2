/** The settings of the Z-score engine that `PATCH /config` changes while the bridge runs, in memory that all its threads see. */
import type { ZscoreConfig } from '../../domain/anomalies/zscore.ts'

export interface RuntimeConfig {
  readonly buffer: SharedArrayBuffer
  read(): ZscoreConfig
  write(config: ZscoreConfig): void
}

/** Both values change in one step as a reader sees them: a version is odd while they are being written. */
export function createRuntimeConfig(initial: ZscoreConfig): RuntimeConfig {
  const config = attachRuntimeConfig(new SharedArrayBuffer(3 * Float64Array.BYTES_PER_ELEMENT))
  config.write(initial)
  return config
}

export function attachRuntimeConfig(buffer: SharedArrayBuffer): RuntimeConfig {
  const version = new Int32Array(buffer, 0, 1)
  const values = new Float64Array(buffer, Float64Array.BYTES_PER_ELEMENT, 2)
  return {
    buffer,
    read() {
      for (;;) {
        const before = Atomics.load(version, 0)
        const config = { anomalyThreshold: values[0]!, windowSize: values[1]! }
        if (before % 2 === 0 && Atomics.load(version, 0) === before) return config
      }
    },
    write({ anomalyThreshold, windowSize }) {
      Atomics.add(version, 0, 1)
      values[0] = anomalyThreshold
      values[1] = windowSize
      Atomics.add(version, 0, 1)
    },
  }
}
