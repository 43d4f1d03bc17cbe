// What a text costs a model: tokens of o200k_base, the encoding of OpenAI's current models. Claude's and Gemini's counts differ by a
// tenth or two, so limits are kept with that much room.
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'

/** Tokens of a value as it is sent: text as it is, anything else as JSON. */
export const tokensOf = (value: unknown): number =>
  countTokens(typeof value === 'string' ? value : JSON.stringify(value))
