// The model APIs as their clients meet them, on one listener: each under the path that its clients append to a base URL.
import { anthropicMessages } from './anthropic.ts'
import { geminiContent } from './gemini.ts'
import { type ModelServer, startModelServer } from './http.ts'
import { openAiChat } from './openai-chat.ts'
import { openAiResponses } from './openai-responses.ts'

export type { ModelServer } from './http.ts'
export type { Script, Step } from './script.ts'

export const startModelApis = (): Promise<ModelServer> =>
  startModelServer([openAiChat, openAiResponses, anthropicMessages, geminiContent])
