// Who is paid, and whether two descriptions of a merchant are of the same one.
import type { Verdict } from '../compare.ts'
import { member, pickObject, pickText } from '../decode/value.ts'
import type { Found, JsonObject } from '../ports.ts'

export interface Party {
  readonly id: Found<string> | null
  readonly name: Found<string> | null
  readonly website: Found<string> | null
}

/** The `merchant` of a signed checkout. */
export function findMerchant(checkout: Found<JsonObject> | null): Party | null {
  const merchant = pickObject(checkout, 'merchant')
  return (
    merchant && {
      id: pickText(merchant, 'id'),
      name: pickText(merchant, 'name'),
      website: pickText(merchant, 'website'),
    }
  )
}

/** The merchant of a signed checkout, else the issuer of the JWT where that is a website. */
export function findParty(checkout: Found<JsonObject> | null): Party | null {
  const merchant = findMerchant(checkout)
  const issuer = pickText(checkout, 'iss')
  if (merchant !== null || issuer === null || !/^https:\/\//i.test(issuer.value)) return merchant
  return { id: null, name: null, website: issuer }
}

/**
 * The same id, or without one on either side the same name and website; a website alone tells where nothing else is said. Another
 * website is another merchant, whatever the id: that is what a forger leaves alone. `partial`: one id under two names.
 */
export function isSameParty(one: Found<JsonObject>, other: Party): Verdict {
  const compare = (key: keyof Party): boolean | undefined => {
    const value = member(one.value, key)
    const stated = other[key]
    if (typeof value !== 'string' || value === '' || stated === null) return undefined
    return value === stated.value || (key === 'website' && normalise(value) === normalise(stated.value))
  }
  const [id, name, website] = [compare('id'), compare('name'), compare('website')]
  if (id === false || website === false) return 'mismatch'
  if (id === true) return name === false ? 'partial' : 'match'
  if (name === false) return 'mismatch'
  return website === true ? 'match' : 'mismatch'
}

/** An origin is the same with a slash behind it and without, and in any case. */
const normalise = (website: string): string =>
  URL.canParse(website) ? new URL(website).href.replace(/\/$/, '') : website
