// Tells what is left of a page of which the content is missing: a line of copyright, links to the top, names of menus.
import type { Block } from '../blocks.ts'
import { wordsOfEdges } from '../boilerplate.ts'
import type { Element } from '../elements.ts'
import type { Said } from './lines.ts'

const MAX_WORDS = 30

/** Whole lines, once the years, the names of owners and the marks between them are taken away. */
const FURNITURE = new RegExp(
  `^(?:${[
    '(?:back to |return to )?top(?: of (?:the )?page)?|menu|home|about(?: us)?|contact(?: us)?|search|close|share(?: this)?|facebook|twitter|instagram|linkedin|email|print|skip to (?:main )?content',
    'privacy(?: policy)?|terms(?: (?:of use|of service|and conditions|& conditions))?|cookies?(?: policy| settings)?|legal(?: notice)?|imprint|sitemap|accessibility|log ?in|sign ?in|sign ?up|register',
    '(?:©|\\(c\\)|copyright).{0,80}|.{0,40}all rights reserved|powered by .{1,40}',
    'impressum|datenschutz(?:erklärung)?|nach oben|startseite|kontakt|.{0,40}alle rechte vorbehalten',
    'mentions légales|haut de page|accueil|.{0,40}tous droits réservés',
    'aviso legal|volver arriba|inicio|contacto|.{0,40}todos los derechos reservados',
    '.{0,40}جميع الحقوق محفوظة.{0,40}|أعلى الصفحة|版权所有.{0,40}|返回顶部|ページ(?:の先頭|トップ)へ(?:戻る)?|.{0,40}все права защищены|наверх',
  ].join('|')})[\\s.!|·•]*$`,
  'u',
)

/** True where nothing remained but furniture; a page of one word of its own is a page. */
export function isRemnant({ lines, around, words }: Said): boolean {
  if (words > MAX_WORDS) return false
  if (lines.length === 0) return words === 0 && around.length > 0 && around.every(isFurniture)
  return lines.every(isFurniture)
}

/** A line of copyright, a link to the top, names of menus. */
export const isFurniture = (line: string): boolean =>
  FURNITURE.test(line) ||
  line.split(/\s*[|·•]\s*|\s{2,}/).every((part) => part === '' || FURNITURE.test(part)) ||
  isMenu(line)

/** Links behind each other are one line, as in a menu that is no list. */
const isMenu = (line: string) =>
  line.split(' ').length <= 12 && line.split(' ').every((word) => FURNITURE.test(word))

/** With more words a page says something, wherever it says it. */
const MAX_EDGE_WORDS = 150
const MAX_WORDS_ELSEWHERE = 200
const EDGE_ROLES = new Set(['navigation', 'banner', 'contentinfo'])
const EDGE_NAME =
  /(?:^|[\s_-])(?:footer|foot|masthead|nav|navbar|navigation|mega-?menu|main-?menu)(?:$|[\s_-])/i
const PARTS_OF_TEXT = new Set(['article', 'section', 'main'])
const MAX_NAME_CHARACTERS = 300

/**
 * Whether all that was found stands in the head, the menus and the foot of the page, and hardly anything elsewhere: its content comes by
 * scripts.
 */
export function isEdge(blocks: readonly Block[], root: Element): boolean {
  if (root.words - wordsOfEdges(root) > MAX_WORDS_ELSEWHERE) return false
  const words = blocks.reduce((sum, block) => sum + (block.words ?? 0), 0)
  return blocks.length > 0 && words <= MAX_EDGE_WORDS && blocks.every(({ at }) => at && standsInEdge(at))
}

function standsInEdge(at: Element): boolean {
  for (let element: Element | undefined = at; element; element = element.parent) {
    const { name, attributes } = element
    if (PARTS_OF_TEXT.has(name)) return false
    if (name === 'body') return false
    if (name === 'footer' || name === 'nav' || name === 'header') return !standsInText(element)
    if (EDGE_ROLES.has(attributes['role']?.toLowerCase() ?? '')) return true
    const names = `${attributes['class'] ?? ''} ${attributes['id'] ?? ''}`
    if (names.length > 3 && EDGE_NAME.test(names.slice(0, MAX_NAME_CHARACTERS))) return true
  }
  return false
}

function standsInText(element: Element): boolean {
  for (let at = element.parent; at; at = at.parent) if (PARTS_OF_TEXT.has(at.name)) return true
  return false
}
