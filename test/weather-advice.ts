import { z } from 'zod'
import { x402 } from '../src/core/price.ts'
import { defineTool } from '../tools/services.ts'

/** What to wear, for 0.001 USDC. */
export const weatherAdvice = defineTool({
  name: 'gateway.weather.advice',
  title: 'Advise what to wear',
  toolset: 'web',
  summary: 'Says what to wear at a temperature and a chance of rain.',
  input: z.strictObject({
    celsius: z.number().min(-60).max(60).describe('Temperature outside'),
    rain_percent: z.int().min(0).max(100).default(0),
  }),
  output: z.strictObject({ advice: z.string(), umbrella: z.boolean() }),

  price: x402({ amount: '0.001', networks: ['eip155:84532'] }),
  caller: 'anyone',
  effects: { readOnly: false, idempotent: false, openWorld: false },
  rest: { method: 'POST', path: '/v1/weather/advice', operationId: 'weatherAdvice' },
  skill: { id: 'weather-advice', tags: ['weather'], examples: ['What should I wear at 3 degrees?'] },
  errors: [],
  examples: [{ title: 'A cold and wet day', input: { celsius: 3, rain_percent: 80 } }],

  handle: async function weatherAdvice({ celsius, rain_percent }) {
    return { advice: celsius < 12 ? 'Wear a coat.' : 'A shirt will do.', umbrella: rain_percent >= 50 }
  },
})
