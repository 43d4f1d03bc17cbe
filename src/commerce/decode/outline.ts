// One walk over a document for everybody who looks for something in it: whether it may be read at all, the texts that may be a
// secret, a card or an instruction, and what may be a mandate. Nothing is kept of what is only passed: a message may be made of
// containers alone, and memory costs more than a look. Where something stands, branches.ts finds out for what is asked about.
import { MAX_BODY_CHARS, MAX_DEPTH, type Body, type Json, type JsonObject } from '../ports.ts'
import { endOf, isContainer, type Located, type Spot } from './branches.ts'
import type { Unreadable } from './json.ts'
import { isCodeName, isMandateName, mandateOf } from './names.ts'
import { unescape } from './percent.ts'

export type Where = 'url' | 'header' | 'body'

export interface Source extends Located {
  readonly where: Where
  /** Decoded out of something else, e.g. a payment header. */
  readonly isDecoded: boolean
}

export interface Text extends Spot {
  readonly source: Source
  readonly value: string
  /** Of the member or header it is the value of, its end where it is long; list items have that of their list. */
  readonly name: string
  /** It is the name of a member, not its value. */
  readonly isName: boolean
}

/** A member or item that may be a mandate, by its name or by how it begins. */
export interface Mark extends Spot {
  readonly value: Json
  readonly name: string
}

export interface Outline {
  /** Why nothing of it may be used, where it was held against the limits. */
  readonly why: Unreadable | undefined
  /** Undefined where nobody wanted them. */
  readonly texts: readonly Text[] | undefined
  readonly marks: readonly Mark[]
  /** Members of all objects together. */
  readonly members: number
}

/** Shorter texts are words, but for the codes of cards. */
export const TEXT_MIN_CHARS = 8
const CODE_MIN_CHARS = 3
const CODE_MAX_CHARS = 4
/** Shorter names are words; longer ones may be a secret where a name should be. */
export const NAME_MIN_CHARS = 16
/** Smaller numbers are no card and no key, and codes only where they are a member. */
export const LARGE = 1e11
export const SMALL = 10_000
const CODE_MIN = 100

/** A container in an object, to be read later: the object is not asked for it again. */
interface Holder {
  readonly value: readonly Json[] | JsonObject
  readonly name: string
}

export interface Reading {
  /** Whether it was parsed by others: it may be no deeper and no larger than its text might be. Else its parser has seen to that. */
  readonly isLimited: boolean
  /** Whether somebody will look into its texts. A list of them is most of what a walk costs. */
  readonly wantsTexts: boolean
}

/**
 * What a container holds itself comes first, then what its last container holds: a list of those that are still to be read would
 * be as long as a message can be made, so they are read from the end of it, each by a call. Depth is bounded.
 */
export function readOutline(source: Source, { isLimited, wantsTexts }: Reading): Outline {
  const texts: Text[] = []
  const marks: Mark[] = []
  let index = 0
  let chars = 0
  let members = 0
  let isJson = true
  let why: Unreadable | undefined

  const addText = (value: string, name: string) => {
    const { length } = value
    if (
      length >= TEXT_MIN_CHARS ||
      (length >= CODE_MIN_CHARS && length <= CODE_MAX_CHARS && isCodeName(name))
    )
      texts.push({ source, index, value, name, isName: false })
  }
  const lookAtText = (value: string, name: string) => {
    chars += value.length
    // A token that lost its beginning is still known by its name and its `~`.
    if ((value[0] === 'e' && value[1] === 'y') || (value.includes('~') && isMandateName(name)))
      marks.push({ source, index, value, name })
    if (!wantsTexts) return
    addText(value, name)
    const plain = value.includes('%') ? unescape(value) : undefined
    if (plain !== undefined) addText(plain, name)
  }
  const lookAtOther = (value: unknown, name: string, isItem: boolean) => {
    if (typeof value === 'number') {
      if (!Number.isFinite(value)) isJson = false
      if (!wantsTexts) return
      // Few are worth being written as text.
      if (value >= LARGE || (value >= CODE_MIN && value < SMALL && !isItem && isCodeName(name)))
        addText(String(value), name)
    } else if (value !== null && typeof value !== 'boolean') isJson = false
  }
  const judge = () => {
    if (chars + index > MAX_BODY_CHARS) why = 'oversize'
    else if (!isJson) why = 'malformed'
  }
  const readList = (list: readonly Json[], name: string, depth: number) => {
    const isMandate = mandateOf(name) !== undefined
    let holders = 0
    // Indices and no iterator: holes are looked at too.
    for (let i = 0; i < list.length; i++) {
      const value = list[i]
      if (typeof value === 'string') lookAtText(value, name)
      else if (isContainer(value)) {
        holders++
        if (isMandate) marks.push({ source, index, value, name })
      } else lookAtOther(value, name, true)
      index++
    }
    judge()
    for (let i = list.length - 1; holders > 0; i--) {
      const item = list[i]
      if (!isContainer(item)) continue
      holders--
      read(item, name, depth + 1)
    }
  }
  const readObject = (object: JsonObject, depth: number) => {
    const keys = Object.keys(object)
    members += keys.length
    let holders: Holder[] | undefined
    for (const key of keys) {
      chars += key.length
      const value = object[key]
      const name = endOf(key)
      if (typeof value === 'string') lookAtText(value, name)
      else if (isContainer(value)) {
        holders ??= []
        holders.push({ value, name })
        if (mandateOf(name) !== undefined) marks.push({ source, index, value, name })
      } else lookAtOther(value, name, false)
      if (wantsTexts && key.length >= NAME_MIN_CHARS)
        texts.push({ source, index, value: key, name: '', isName: true })
      index++
    }
    judge()
    if (holders !== undefined)
      for (let i = holders.length - 1; i >= 0; i--) read(holders[i]!.value, holders[i]!.name, depth + 1)
  }
  const read = (container: readonly Json[] | JsonObject, name: string, depth: number) => {
    if (isLimited && why !== undefined) return
    if (isLimited && depth > MAX_DEPTH) why = 'too_deep'
    else if (Array.isArray(container)) readList(container as readonly Json[], name, depth)
    else readObject(container as JsonObject, depth)
  }

  const root = source.value
  if (typeof root === 'string') lookAtText(root, '')
  else if (!isContainer(root)) lookAtOther(root, '', false)
  // The root is a value too.
  index++
  if (isContainer(root)) read(root, '', 1)
  else judge()
  return { why: isLimited ? why : undefined, texts: wantsTexts ? texts : undefined, marks, members }
}

type JsonBody = Extract<Body, { kind: 'json' }>

let last: { readonly body: JsonBody; readonly outline: Outline } | undefined

/** For who reads the body next: whoever made it has walked over it. */
export function keepOutline(body: JsonBody, outline: Outline): void {
  last = { body, outline }
}

/** Of the body of a message: read once while it is judged, one message at a time. */
export function outlineOf(body: JsonBody, wantsTexts = false): Outline {
  if (last?.body === body && !(wantsTexts && last.outline.texts === undefined)) return last.outline
  const outline = readOutline(sourceOf(body.value, body.raw), { isLimited: false, wantsTexts })
  keepOutline(body, outline)
  return outline
}

/** @param raw the text it was parsed from, where that is known: then it stands one layer deeper */
export const sourceOf = (value: Json, raw: string | undefined): Source => ({
  value,
  at: placeOfBody(raw),
  where: 'body',
  isDecoded: false,
  containers: undefined,
})

export const placeOfBody = (raw: string | undefined): string => (raw === undefined ? '/body' : '/body#')
