// A language model that calls one tool and then answers, so that ai-sdk.ts runs without an account anywhere.
import { MockLanguageModelV4 } from 'ai/test'

type Answer = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>

const usage: Answer['usage'] = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}

/** @param url what the model fetches with `gateway_egress_fetch` before it answers */
export function modelThatFetches(url: string): MockLanguageModelV4 {
  const call: Answer = {
    content: [
      {
        type: 'tool-call',
        toolCallId: 'call_1',
        toolName: 'gateway_egress_fetch',
        input: JSON.stringify({ method: 'GET', url }),
      },
    ],
    finishReason: { unified: 'tool-calls', raw: undefined },
    usage,
    warnings: [],
  }
  const answer: Answer = {
    content: [{ type: 'text', text: 'The API answered, and I never saw the secret.' }],
    finishReason: { unified: 'stop', raw: undefined },
    usage,
    warnings: [],
  }
  return new MockLanguageModelV4({ doGenerate: [call, answer] })
}
