import { z } from 'zod'
import { free } from '../src/core/price.ts'
import { SupportedResponse } from '../schemas/x402.ts'
import { defineTool } from './services.ts'

export const facilitatorSupported = defineTool({
  name: 'gateway.facilitator.supported',
  toolset: 'payments',
  title: 'Payments that are taken now',
  summary: 'Scheme, network and version of every payment that a live facilitator behind this gateway takes.',
  brief: 'Payments that are taken now: scheme, network, version.',
  input: z.strictObject({}),
  output: SupportedResponse,
  price: free,
  caller: 'anyone',
  effects: { readOnly: true, idempotent: true, openWorld: true },
  rest: { method: 'GET', path: '/supported', operationId: 'getSupported' },
  errors: [],
  examples: [{ title: 'Read it', input: {} }],
  handle: function facilitatorSupported(_input, { facilitator }) {
    return facilitator.supported()
  },
})
