// A document as text and as Markdown says everything twice. Who asks chooses; a program that did not gets both, a model Markdown alone.
import type { DocumentFormat } from '../../schemas/execute-request.ts'
import type { CallDoor } from '../core/context.ts'
import type { Delivered } from './ports.ts'

/** The specification's answer over REST has both. */
export const defaultFormat = (door: CallDoor): DocumentFormat =>
  door === 'mcp' || door === 'a2a' ? 'markdown' : 'both'

/** @returns what is delivered without the form that was not chosen, and without what speaks of it */
export function inFormat(delivered: Delivered, format: DocumentFormat): Delivered {
  const { result } = delivered
  if (format === 'both') return delivered
  const dropped = format === 'markdown' ? 'text' : 'markdown'
  const parts = delivered.parts.filter(({ pointer }) => !pointer.endsWith(`/document/${dropped}`))
  if ('document' in result)
    return { ...delivered, parts, result: { ...result, document: without(result.document, dropped) } }
  if (!('documents' in result)) return delivered
  const documents = result.documents.map((each) => ({ ...each, document: without(each.document, dropped) }))
  return { ...delivered, parts, result: { ...result, documents } }
}

function without<D extends { text?: unknown; markdown?: unknown }>(document: D, name: 'text' | 'markdown') {
  const { [name]: _dropped, ...rest } = document
  return rest as Omit<D, 'text' | 'markdown'>
}
