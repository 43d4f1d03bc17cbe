// Makes the instruments of the list, and hands figures to them by name.
import type { Counter, Histogram, Meter } from '@opentelemetry/api'
import type { Logger } from '../../lib/log.ts'
import { within } from '../../lib/deadline.ts'
import { must } from '../../lib/must.ts'
import { type Instrument, INSTRUMENTS, type InstrumentName } from '../instruments.ts'
import type { Reading, Telemetry } from '../port.ts'

type Figures = Pick<Telemetry, 'add' | 'record' | 'observe'>
type Read = Parameters<Telemetry['observe']>[1]

/** More than readiness waits for a database that hangs, so that its figure is there then; less than a scraper waits, ten seconds as a rule. */
const PATIENCE_MS = 3000

export function createInstruments(meter: Meter, log: Logger): Figures {
  const sums = new Map<InstrumentName, Counter>()
  const histograms = new Map<InstrumentName, Histogram>()
  for (const name of Object.keys(INSTRUMENTS) as InstrumentName[]) {
    const { kind, unit, description, buckets }: Instrument = INSTRUMENTS[name]
    const options = { unit, description }
    if (kind === 'counter') sums.set(name, meter.createCounter(name, options))
    if (kind === 'histogram')
      histograms.set(
        name,
        meter.createHistogram(name, {
          ...options,
          ...(buckets && { advice: { explicitBucketBoundaries: [...buckets] } }),
        }),
      )
  }
  return {
    add: (name, by, labels) => must(sums.get(name), name).add(by, labels),
    record: (name, value, labels) => must(histograms.get(name), name).record(value, labels),
    observe(name, read) {
      const { kind, unit, description } = INSTRUMENTS[name]
      const made = makeObserved(meter, kind)(name, { unit, description })
      const readInTime = withPatience(read)
      made.addCallback(async (result) => {
        try {
          for (const { value, labels } of await readInTime()) result.observe(value, labels)
        } catch (err) {
          log.debug({ err, instrument: name }, 'a figure could not be read')
        }
      })
    },
  }
}

/**
 * One figure that hangs does not keep the others from whoever collects. It is not read a second time while it is: whoever collects
 * meanwhile waits for the same reading.
 */
function withPatience(read: Read): () => Promise<readonly Reading[]> {
  let reading: Promise<readonly Reading[]> | undefined
  return async () => {
    reading ??= (async () => read())().finally(() => (reading = undefined))
    const readings = await within(PATIENCE_MS, reading)
    if (readings === undefined) throw new Error('took too long')
    return readings
  }
}

function makeObserved(meter: Meter, kind: Instrument['kind']): Meter['createObservableGauge'] {
  if (kind === 'level') return meter.createObservableUpDownCounter.bind(meter)
  return kind === 'gauge'
    ? meter.createObservableGauge.bind(meter)
    : meter.createObservableCounter.bind(meter)
}
