// How strongly a specification asks for something, and where.

export interface Requirement {
  readonly level: 'MUST' | 'SHOULD' | 'MAY'
  /** Section, document or standard; the head of each family says of which specification. */
  readonly section: string
  readonly behaviour: string
  /** Why no test of this repository can show it. */
  readonly outside?: string
}

export const must = (section: string, behaviour: string): Requirement => ({
  level: 'MUST',
  section,
  behaviour,
})
export const should = (section: string, behaviour: string): Requirement => ({
  level: 'SHOULD',
  section,
  behaviour,
})
export const may = (section: string, behaviour: string): Requirement => ({ level: 'MAY', section, behaviour })
export const outside = (requirement: Requirement, why: string): Requirement => ({
  ...requirement,
  outside: why,
})
