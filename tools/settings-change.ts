import { z } from 'zod'
import { RuntimeSettings, settingsChange as fields } from '../schemas/settings.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const settingsChange = defineTool({
  name: 'gateway.settings.change',
  toolset: 'operator',
  title: 'Change settings of the gateway',
  summary:
    'Changes what may be changed while the gateway runs; every replica follows within seconds, and each change is in the audit log. What is left ' +
    'out stays. For the administrator.',
  input: z.strictObject(fields),
  output: RuntimeSettings,
  price: free,
  caller: 'admin',
  doors: ['rest'],
  effects: { readOnly: false, destructive: false, idempotent: true, openWorld: false },
  rest: { method: 'POST', path: '/v1/settings', operationId: 'changeSettings' },
  errors: ['key_required', 'admin_required', 'state_conflict'],
  examples: [
    { title: 'Stop every outbound request', input: { egress_paused: true } },
    { title: 'As configured again', input: { log_level: null, calls_per_minute: null } },
  ],
  handle: async function settingsChange(change, { settings, caller }) {
    return settings.change(change, caller.id)
  },
})
