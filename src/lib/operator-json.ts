// JSON that a person wrote by hand: settings, policies, key files, what a command is given. A member that is there twice is refused, since
// the parser takes the last one and its writer may have meant the first. Words name places and members, never a value.
import { placeOfJsonFault } from './json-fault.ts'

/** What is wrong with the text, in words that fit after the name of its file. */
export class OperatorJsonFault extends Error {
  constructor(words: string) {
    super(words)
    this.name = 'OperatorJsonFault'
  }
}

/** @throws {OperatorJsonFault} where it is no JSON, or one object has a member twice */
export function parseOperatorJson(text: string): unknown {
  const plain = text.startsWith('\uFEFF') ? text.slice(1) : text
  let value: unknown
  try {
    value = JSON.parse(plain)
  } catch (thrown) {
    const place = placeOfJsonFault(plain, thrown)
    throw new OperatorJsonFault(place === undefined ? 'is not JSON' : `is not JSON: look at ${place}`)
  }
  const twice = findRepeatedMember(plain)
  if (twice)
    throw new OperatorJsonFault(
      `has the member ${twice.name} twice in one object, in lines ${twice.first} and ${twice.second}: remove one`,
    )
  return value
}

interface Repeated {
  /** Quoted, and cut where it is long. */
  readonly name: string
  readonly first: number
  readonly second: number
}

const MAX_SHOWN_CHARACTERS = 64
/** In JSON only the name of a member stands before a colon. */
const TOKENS = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}\n]/g

/** @param text valid JSON */
function findRepeatedMember(text: string): Repeated | undefined {
  let line = 1
  /** Members of each object that is open, by their line. */
  const open: Map<string, number>[] = []
  for (const [token, colon] of text.matchAll(TOKENS)) {
    if (token === '{') open.push(new Map())
    else if (token === '}') open.pop()
    else if (colon !== undefined) {
      const name = JSON.parse(token.slice(0, -colon.length)) as string
      const first = open.at(-1)?.get(name)
      if (first !== undefined) return { name: shown(name), first, second: line }
      open.at(-1)?.set(name, line)
    }
    line += token.split('\n').length - 1
  }
  return undefined
}

const shown = (name: string) =>
  JSON.stringify(name.length > MAX_SHOWN_CHARACTERS ? `${name.slice(0, MAX_SHOWN_CHARACTERS)}…` : name)
