// The form of /verify and what it finds. Everything happens in the browser; what is pasted is sent nowhere.
import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { checkContents } from '../../browser/lib/contents.ts'
import { findProofs, type FoundProof, type Nothing } from '../../browser/lib/find-proofs.ts'
import { BEARER_KINDS, fetchKeys, type Keys, readKeys, verifyProof } from '../../browser/lib/proof.ts'
import { Link } from '../link.tsx'
import { ProofCard } from './proof-card.tsx'
import type { ShownProof, VerifierProps } from './verifier-props.ts'

type Outcome =
  | { readonly is: 'nothing'; readonly nothing: Nothing; readonly id?: string | undefined }
  | { readonly is: 'bad_keys' }
  | { readonly is: 'proofs'; readonly proofs: readonly ShownProof[] }

interface Question {
  readonly text: string
  readonly body: string
  /** A JWK Set; empty for the keys of this gateway. */
  readonly keys: string
  /** Whether the answer is where somebody waits for it, rather than still in the field. */
  readonly isFocused: boolean
}

const MAX_FILE_BYTES = 2 * 1024 * 1024

export function Verifier(props: VerifierProps): VNode {
  const { api, baseUrl, language, texts } = props
  const [text, setText] = useState('')
  const [body, setBody] = useState('')
  const [keys, setKeys] = useState('')
  const [outcome, setOutcome] = useState<Outcome>()
  const [isOver, setIsOver] = useState(false)
  const [question, setQuestion] = useState<Question>()
  const heading = useRef<HTMLHeadingElement>(null)

  useEffect(() => {
    if (!question) return
    const ended = new AbortController()
    void look(question, { api, baseUrl }).then((found) => {
      // The newest question counts: an answer to an older one comes too late.
      if (ended.signal.aborted) return
      setOutcome(found)
      if (question.isFocused) setTimeout(() => heading.current?.focus())
    })
    return () => ended.abort()
  }, [question, api, baseUrl])

  useEffect(() => {
    // What its holder could act with does not stay in the address, and so not in the history.
    const proofs = outcome?.is === 'proofs' ? outcome.proofs : []
    if (location.hash !== '' && proofs.some(({ kind }) => kind && BEARER_KINDS.has(kind)))
      history.replaceState(null, '', location.pathname)
  }, [outcome])

  useEffect(() => {
    // A link carries the document behind the `#`, which no server is sent.
    const readHash = () => {
      const jws = new URLSearchParams(location.hash.slice(1)).get('jws')
      if (jws === null) return
      setText(jws)
      setQuestion({ text: jws, body: '', keys: '', isFocused: false })
    }
    readHash()
    addEventListener('hashchange', readHash)
    return () => removeEventListener('hashchange', readHash)
  }, [])

  const verify = (pasted: string, isFocused = true) => {
    setText(pasted)
    setQuestion({ text: pasted, body, keys, isFocused })
  }
  async function takeFile(file: File | undefined): Promise<void> {
    if (!file) return
    if (file.size > MAX_FILE_BYTES) setOutcome({ is: 'nothing', nothing: 'too_long' })
    else verify(await file.text())
  }
  async function takeSample(): Promise<void> {
    const response = await fetch(`${api}/.well-known/agent-card.json`).catch(() => undefined)
    if (response?.ok) verify(JSON.stringify(await response.json(), undefined, 2))
  }
  function clear(): void {
    setText('')
    setBody('')
    setKeys('')
    setQuestion(undefined)
    setOutcome(undefined)
    history.replaceState(null, '', location.pathname)
  }

  return (
    <div class="stack">
      <form
        class="stack panel drop"
        data-over={isOver ? '' : undefined}
        onSubmit={(event) => {
          event.preventDefault()
          verify(text)
        }}
        onDragOver={(event) => {
          event.preventDefault()
          setIsOver(true)
        }}
        onDragLeave={() => setIsOver(false)}
        onDrop={(event) => {
          event.preventDefault()
          setIsOver(false)
          const { dataTransfer } = event
          const [file] = dataTransfer?.files ?? []
          if (file) void takeFile(file)
          else verify(dataTransfer?.getData('text') ?? '')
        }}
      >
        <div class="field">
          <label for="proof">{texts.paste}</label>
          <p class="hint" id="proof-hint">
            {texts.hint}
          </p>
          <textarea
            id="proof"
            rows={7}
            dir="ltr"
            spellcheck={false}
            autocomplete="off"
            autocapitalize="off"
            aria-describedby="proof-hint"
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
            onPaste={({ currentTarget }) => {
              // The value is there after the event.
              setTimeout(() => verify(currentTarget.value, false))
            }}
          />
        </div>
        <details>
          <summary>{texts.more}</summary>
          <div class="stack">
            <div class="field">
              <label for="proof-body">{texts.body}</label>
              <p class="hint" id="proof-body-hint">
                {texts.bodyHint}
              </p>
              <textarea
                id="proof-body"
                rows={4}
                dir="ltr"
                spellcheck={false}
                autocomplete="off"
                aria-describedby="proof-body-hint"
                value={body}
                onInput={({ currentTarget }) => setBody(currentTarget.value)}
              />
            </div>
            <div class="field">
              <label for="proof-keys">{texts.keys}</label>
              <p class="hint" id="proof-keys-hint">
                {texts.keysHint}
              </p>
              <textarea
                id="proof-keys"
                rows={4}
                dir="ltr"
                spellcheck={false}
                autocomplete="off"
                aria-describedby="proof-keys-hint"
                aria-invalid={outcome?.is === 'bad_keys'}
                value={keys}
                onInput={({ currentTarget }) => setKeys(currentTarget.value)}
              />
              {outcome?.is === 'bad_keys' && <p class="fault">{texts.badKeys}</p>}
            </div>
          </div>
        </details>
        <div class="row">
          <button type="submit" class="primary">
            {texts.verify}
          </button>
          <label class="button file">
            {texts.file}
            <input
              type="file"
              class="visually-hidden"
              onChange={({ currentTarget }) => {
                const [file] = currentTarget.files ?? []
                void takeFile(file)
                currentTarget.value = ''
              }}
            />
          </label>
          <button type="button" onClick={() => void takeSample()}>
            {texts.sample}
          </button>
          {(text !== '' || outcome) && (
            <button type="button" class="quiet" onClick={clear}>
              {texts.clear}
            </button>
          )}
        </div>
      </form>

      <section class="stack" aria-labelledby="proof-result" aria-live="polite" hidden={!outcome}>
        <h2 id="proof-result" ref={heading} tabIndex={-1}>
          {texts.result}
        </h2>
        {outcome && <Shown outcome={outcome} {...props} language={language} />}
      </section>
    </div>
  )
}

function Shown({ outcome, ...props }: VerifierProps & { readonly outcome: Outcome }): VNode {
  const { texts, receipts } = props
  if (outcome.is === 'bad_keys') return <p class="notice fails">{texts.badKeys}</p>
  if (outcome.is === 'nothing')
    return (
      <p class="notice warns">
        {texts.nothing[outcome.nothing]}{' '}
        {outcome.nothing === 'receipt_id' && outcome.id !== undefined && (
          <Link to={receipts + outcome.id}>{outcome.id}</Link>
        )}
      </p>
    )
  const { proofs } = outcome
  return (
    <>
      {proofs.length > 1 && <p>{texts.found.replace('{n}', String(proofs.length))}</p>}
      {proofs.map((proof) => (
        <ProofCard key={proof.jws} proof={proof} isAlone={proofs.length === 1} {...props} />
      ))}
    </>
  )
}

/** Finds and verifies; one good signature of several over one document is enough. */
async function look(
  { text, body, keys: pasted }: Question,
  gateway: { readonly api: string; readonly baseUrl: string },
): Promise<Outcome> {
  const found = findProofs(text, body)
  if (!('proofs' in found)) return { is: 'nothing', ...found }
  const own = pasted.trim() === '' ? undefined : readKeys(pasted)
  if (pasted.trim() !== '' && !own) return { is: 'bad_keys' }
  const keys = own ? { document: own, baseUrl: undefined } : await fetchKeys(gateway)
  const proofs: ShownProof[] = []
  for (const each of found.proofs) proofs.push(await verifyFound(each, keys, body))
  return { is: 'proofs', proofs }
}

async function verifyFound(found: FoundProof, keys: Keys | undefined, body: string): Promise<ShownProof> {
  const { candidates, at, beside } = found
  const [first, ...others] = candidates
  const now = Date.now()
  let proof = await verifyProof(first, { keys, now })
  for (const jws of others) {
    if (proof.verdict === 'genuine') break
    const other = await verifyProof(jws, { keys, now })
    if (other.verdict === 'genuine') proof = other
  }
  return { ...proof, at, checks: [...proof.checks, ...(await checkContents(proof, beside, body))] }
}
