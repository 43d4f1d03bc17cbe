// Makes the instruments of the list, and hands figures to them by name.
import type { Counter, Histogram, Meter } from '@opentelemetry/api'
import type { Logger } from '../../lib/log.ts'
import { must } from '../../lib/must.ts'
import { type Instrument, INSTRUMENTS, type InstrumentName } from '../instruments.ts'
import type { Telemetry } from '../port.ts'

type Figures = Pick<Telemetry, 'add' | 'record' | 'observe'>

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
      made.addCallback(async (result) => {
        try {
          for (const { value, labels } of await read()) result.observe(value, labels)
        } catch (err) {
          log.debug({ err, instrument: name }, 'a figure could not be read')
        }
      })
    },
  }
}

function makeObserved(meter: Meter, kind: Instrument['kind']): Meter['createObservableGauge'] {
  if (kind === 'level') return meter.createObservableUpDownCounter.bind(meter)
  return kind === 'gauge'
    ? meter.createObservableGauge.bind(meter)
    : meter.createObservableCounter.bind(meter)
}
