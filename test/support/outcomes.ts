// gateway_execute without a gateway: analyses run in this thread, and there is no network unless a test brings one.
import type { PreviewResult } from '../../schemas/extract-preview.ts'
import type { Execution } from '../../schemas/outcome.ts'
import { analyses } from '../../src/outcomes/analyses.ts'
import { createOutcomes, type OutcomeParts } from '../../src/outcomes/index.ts'
import type { Analyser } from '../../src/outcomes/ports.ts'

export const inThread: Analyser = {
  async run(name, input) {
    // oxlint-disable-next-line typescript/no-explicit-any
    return { ok: true, value: await (analyses[name] as any)(input) }
  },
  async close() {},
}

const unreachable = (): never => {
  throw new Error('this test has no network')
}

export const createTestOutcomes = (over: Partial<OutcomeParts> = {}) =>
  createOutcomes({
    targets: { inspect: unreachable, check: unreachable, resolve: unreachable },
    sender: { send: unreachable, close: async () => {} },
    analyser: inThread,
    quotes: { accept: () => ({ jws: 'a.b.c', expiresAt: 0 }) },
    baseUrl: 'https://gw.example',
    rules: { ports: [443], allowSandboxName: false },
    feedSources: ['https://feeds.example/a.xml', 'https://feeds.example/b.xml'],
    now: () => 1_790_000_000_000,
    ...over,
  })

/** The result of an execution that is known to be a preview. */
export const previewOf = (execution: Execution) => execution.result as PreviewResult
