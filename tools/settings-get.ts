import { z } from 'zod'
import { RuntimeSettings } from '../schemas/settings.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const settingsGet = defineTool({
  name: 'gateway.settings.get',
  toolset: 'operator',
  title: 'Read the settings of the gateway',
  summary:
    'The settings that may be changed while the gateway runs: the pause of all outbound requests, the level of the log, calls a minute. ' +
    'For the administrator.',
  input: z.strictObject({}),
  output: RuntimeSettings,
  price: free,
  caller: 'admin',
  doors: ['rest'],
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/settings', operationId: 'getSettings' },
  errors: ['key_required', 'admin_required'],
  examples: [{ title: 'As they are', input: {} }],
  handle: async function settingsGet(_input, { settings }) {
    return settings.read()
  },
})
