// The page for people. It shows what /v1 answers, and nothing else. Words that are stored go into the page as text alone.

// ---- Elements ----

/** Makes an element. Children are elements or texts; what is null is left out. */
function el(name, members = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(members)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (key === 'width') element.style.width = value;
    else if (key === 'grow') element.style.flexGrow = value;
    else element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

/** Characters that change how others are shown, or that nobody sees. They are shown by their numbers. */
const UNSEEN = /(?![\t\n\r\u200c\u200d\ufe0e\ufe0f])[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

function plain(text) {
  const parts = [];
  let from = 0;
  for (const found of text.matchAll(UNSEEN)) {
    const number = found[0].codePointAt(0).toString(16).toUpperCase().padStart(4, '0');
    parts.push(text.slice(from, found.index), el('span', { class: 'sign', title: 'a character that is not shown' }, `U+${number}`));
    from = found.index + found[0].length;
  }
  parts.push(text.slice(from));
  return parts;
}

/** How many characters of a text are shown before somebody asks for all. */
const SHORT = 1500;

/** Shows stored words. `places` are pairs of characters between which a match stands. */
function words(text, places = []) {
  const box = el('div', { class: 'words', dir: 'auto' });
  if (places.length > 0) {
    const characters = Array.from(text);
    let from = 0;
    for (const [start, end] of places) {
      box.append(...plain(characters.slice(from, start).join('')), el('mark', {}, plain(characters.slice(start, end).join(''))));
      from = end;
    }
    box.append(...plain(characters.slice(from).join('')));
    return box;
  }
  if (text.length <= SHORT) {
    box.append(...plain(text));
    return box;
  }
  const whole = el('button', { type: 'button', class: 'link', onclick: () => box.replaceChildren(...plain(text)) },
    `… show all ${count(text.length)} characters`);
  box.append(...plain(text.slice(0, SHORT)), ' ', whole);
  return box;
}

const count = (number) => Number(number).toLocaleString('en');
const many = (number, one, more = `${one}s`) => `${count(number)} ${Number(number) === 1 ? one : more}`;
const tag = (text, kind = '') => el('span', { class: `tag ${kind}` }, plain(String(text)));
const empty = (text) => el('div', { class: 'card empty' }, text);
const soft = (text) => el('span', { class: 'soft' }, text);
const id8 = (id) => el('code', { title: id }, id.slice(0, 8));

function when(at) {
  return at ? el('time', { datetime: at, title: at }, at.slice(0, 16).replace('T', ' ')) : null;
}

function facts(pairs) {
  const shown = pairs.filter(([, value]) => value !== null && value !== undefined && value !== '');
  return el('dl', { class: 'facts' }, shown.map(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]));
}

function table(names, rows) {
  const head = el('tr', {}, names.map((name) => el('th', { scope: 'col' }, name)));
  const body = rows.map((row) => el('tr', {}, row.map((cell) => el('td', {}, cell ?? '–'))));
  return el('div', { class: 'card scroll' }, el('table', {}, el('thead', {}, head), el('tbody', {}, body)));
}

function json(title, value) {
  const box = el('details', {}, el('summary', {}, title));
  box.addEventListener('toggle', () => {
    if (box.open && box.children.length === 1) box.append(el('div', { class: 'card' }, el('pre', {}, plain(JSON.stringify(value, null, 2)))));
  });
  return box;
}

// ---- The server ----

const kept = (name) => sessionStorage.getItem(`memory-${name}`) ?? '';
const keep = (name, value) => sessionStorage.setItem(`memory-${name}`, value);

class Problem extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

async function call(method, path, body) {
  const headers = { Authorization: `Bearer ${kept('token')}` };
  if (kept('subject')) headers['Memory-Subject'] = kept('subject');
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  const answer = await fetch(`v1/${path}`, { method, headers, body: body && JSON.stringify(body), cache: 'no-store', credentials: 'omit' })
    .catch(() => { throw new Problem(0, 'the server does not answer'); });
  const value = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Problem(answer.status, value.detail ?? `the server answered ${answer.status}`);
  return value;
}

const read = (path, parameters = {}) => call('GET', `${path}${query(parameters)}`);
const ask = (path, body) => call('POST', path, body);

function query(parameters) {
  const some = Object.entries(parameters).filter(([, value]) => value !== '' && value !== null && value !== undefined && value !== false);
  return some.length === 0 ? '' : `?${new URLSearchParams(some.map(([name, value]) => [name, value === true ? 'true' : value]))}`;
}

/** Returns the words of items that a receipt names, by their keys. */
async function wordsOf(keys) {
  let wanted = [...new Set(keys)];
  const found = new Map();
  while (wanted.length > 0) {
    const { items, left } = await ask('items', { items: wanted.slice(0, 1000) });
    items.forEach((item) => found.set(item.item, item));
    wanted = [...left, ...wanted.slice(1000)];
  }
  return found;
}

// ---- Addresses ----

const address = (view, name = '', parameters = {}) => `#/${view}${name ? `/${encodeURIComponent(name)}` : ''}${query(parameters)}`;

function here() {
  const [path, parameters] = location.hash.slice(2).split(/\?(.*)/s);
  const [view, name = ''] = (path ?? '').split('/');
  let plainName = '';
  try { plainName = decodeURIComponent(name); } catch { /* an address that nobody wrote here */ }
  return { view: view || 'sessions', name: plainName, at: new URLSearchParams(parameters ?? '') };
}

const placeOf = (item) => (item.unit === 'record' ? address('records', item.id) : address('sessions', item.session, { at: item.seq }));
const forgetting = (item) => el('a', { href: address('forget', '', { ids: item.id }) }, 'Forget');

/** A form whose values stand in the address: sending it goes there. */
function form(view, nameOf, ...fields) {
  const box = el('form', { class: 'ask' }, fields, el('button', { class: 'main' }, fields.some((field) => field.querySelector('#q')) ? 'Ask' : 'Show'));
  box.addEventListener('submit', (event) => {
    event.preventDefault();
    const values = Object.fromEntries([...new FormData(box)].filter(([, value]) => value !== ''));
    const name = nameOf ? values[nameOf] ?? '' : '';
    delete values[nameOf];
    const next = address(view, name, values);
    if (next === location.hash) show();
    else location.hash = next;
  });
  return box;
}

const field = (label, id, value, members = {}) =>
  el('label', { class: members.class }, label, el('input', { id, name: id, value: value ?? '', autocomplete: 'off', spellcheck: 'false', ...members, class: null }));
const check = (label, id, on) =>
  el('label', { class: 'check' }, el('input', { type: 'checkbox', id, name: id, value: 'true', checked: on }), label);
function choice(label, id, value, options) {
  const list = options.map(([key, text]) => el('option', { value: key, selected: key === (value ?? '') }, text));
  return el('label', {}, label, el('select', { id, name: id }, list));
}

// ---- What several views show ----

const STATES = {
  archived: ['archived', 'A summary stands for it in the window; it is stored and found as before.'],
  summary: ['summary', 'It stands in the window for the messages that it covers.'],
  archive: ['left the window', 'The messages before it left the window without a summary.'],
  replaced: ['replaced', 'Another message took its place in the window.'],
  forgotten: ['forgotten', 'Its content was forgotten. Its number stays taken.'],
};

function stateTag(state) {
  const [text, why] = STATES[state] ?? [];
  const kind = { summary: 'summary', archive: 'archive', forgotten: 'bad' }[state] ?? '';
  return text ? el('span', { class: `tag ${kind}`, title: why }, text) : null;
}

function validity(record) {
  if (record.current) return tag('current', 'good');
  return tag(record.superseded_at ? 'superseded' : 'not current', 'bad');
}

/** Bars for why an item was found. `most` holds the largest of each signal in the list. */
function signals(of, most) {
  if (!of) return null;
  const bar = (name, value, share, more = '') => value === null || value === undefined ? null
    : el('span', { class: 'signal', title: `${name}: ${value}` }, name,
      el('span', { class: 'track' }, el('i', { width: `${Math.max(0, Math.min(1, share)) * 100}%` })),
      el('span', { class: 'num' }, `${value.toFixed(3)}${more}`));
  const share = (name) => (most[name] > 0 ? of[name] / most[name] : 0);
  const rank = (number) => (number ? ` (${number}.)` : '');
  return el('div', { class: 'signals' },
    bar('score', of.score, share('score')), bar('words', of.text, share('text'), rank(of.text_rank)),
    bar('meaning', of.cosine, of.cosine, rank(of.vector_rank)), bar('reranked', of.reranked, share('reranked')));
}

function largest(list) {
  const most = {};
  for (const one of list) for (const name of ['score', 'text', 'reranked']) most[name] = Math.max(most[name] ?? 0, one?.[name] ?? 0);
  return most;
}

/** The line above the words of a message, record or hit. */
function meta(item, ...more) {
  const who = item.unit === 'record' ? item.kind : item.speaker ?? item.role;
  return el('div', { class: 'meta' },
    item.unit === 'message' && item.seq !== undefined ? el('span', { class: 'num mono' }, `#${item.seq}`) : null,
    who ? tag(who, item.unit === 'record' ? '' : item.role) : null, stateTag(item.state), when(item.at),
    item.unit === 'record' ? (item.tags ?? []).map((one) => tag(one)) : null,
    item.trust && !['user', 'assistant'].includes(item.trust) ? soft(`trust: ${item.trust}`) : null, more);
}

/** What was left out, by its reason. */
const REASONS = {
  no_room: 'No room', below_limit: 'Better ones filled the limit', irrelevant: 'Not about the question', gone: 'Gone since it was indexed',
  unread: 'Could not be read', replaced: 'Replaced by another message', after_fork: 'Said after the branch left',
};

function leftOut(list, known) {
  if (list.length === 0) return null;
  const reasons = Object.groupBy(list, (one) => one.reason), most = largest(list.map((one) => one.signals));
  return [el('h2', {}, 'Left out', el('small', {}, many(list.length, 'candidate'))),
    Object.entries(reasons).map(([reason, some]) => el('details', { 'data-reason': reason },
      el('summary', {}, `${REASONS[reason] ?? reason} (${some.length})`),
      el('ul', { class: 'list card' }, some.map(({ item, signals: of }) => {
        const value = known.get(item);
        return el('li', { class: 'item', tabindex: '-1' },
          value ? meta(value, el('span', { class: 'end' }, el('a', { href: placeOf(value) }, 'Open'))) : el('div', { class: 'meta' }, el('code', {}, item)),
          value?.text ? words(value.text) : el('div', { class: 'gone' }, 'its content is gone'), signals(of, most));
      }))))];
}

function degraded(list) {
  return (list ?? []).map((one) => el('div', { class: 'card error' }, `${one.stage} did not answer: `, plain(one.why)));
}

const behind = (pending) => (pending > 0 ? el('p', { class: 'small soft' }, `${many(pending, 'note')} wait for an index: what was just written may be missing.`) : null);

// ---- Views ----

const views = {
  async sessions({ name, at }) {
    if (name) return timeline(name, at);
    const { sessions, next } = await read('sessions', { after: at.get('after'), limit: 50 });
    return [
      el('h1', {}, 'Sessions'), el('p', { class: 'lead' }, 'Every conversation that is stored. The bar tells how much of it stands in the window, word for word or as a summary.'),
      sessions.length === 0 ? empty('There are no sessions yet.') : el('ul', { class: 'list card' }, sessions.map((one) =>
        el('li', {}, el('a', { class: 'row', href: address('sessions', one.session) },
          el('span', { class: 'grow' }, el('span', { class: 'title', dir: 'auto' }, plain(one.title ?? one.session)),
            el('span', { class: 'small soft' }, plain(one.session))),
          el('span', { class: 'fill', title: `${many(one.window_messages, 'message')} of ${count(one.messages)} in the window` },
            el('i', { width: `${100 * Math.min(1, one.window_messages / Math.max(1, one.messages))}%` })),
          el('span', { class: 'small soft num right' }, many(one.messages, 'message')),
          el('span', { class: 'small soft num right' }, many(one.window_tokens, 'token')), el('span', { class: 'small soft num right' }, when(one.last_at)))))),
      next ? el('p', {}, el('a', { href: address('sessions', '', { after: next }) }, 'More sessions')) : null,
    ];
  },

  async context({ name, at }) {
    const { sessions } = await read('sessions', { limit: 100 });
    const session = name || sessions[0]?.session || '', question = at.get('q') ?? '', budget = at.get('budget') ?? '3000';
    const asked = form('context', 'session',
      field('Session', 'session', session, { class: 'some', list: 'known', required: true }), field('What the person says now', 'q', question, { class: 'wide', placeholder: 'Where is my order?' }),
      field('Tokens', 'budget', budget, { class: 'short', type: 'number', min: 0 }), field('Recalled', 'recall', at.get('recall') ?? '5', { class: 'short', type: 'number', min: 0, max: 1000 }),
      field('Only what matches', 'filter', at.get('filter'), { class: 'rest', placeholder: 'role = user' }));
    asked.append(el('datalist', { id: 'known' }, sessions.map((one) => el('option', { value: one.session }, one.title ?? ''))));
    const head = [el('h1', {}, 'Context'), el('p', { class: 'lead' }, 'What a model would be sent now, what was left out, and why. Nothing is stored by looking.'), asked];
    if (!session) return [...head, empty('There are no sessions yet.')];
    const body = { query: question, budget: Number(budget), recall: Number(at.get('recall') ?? 5), filter: at.get('filter') || undefined, pending: true };
    const answer = await ask(`sessions/${encodeURIComponent(session)}/context`, body).catch((problem) => problem);
    if (answer instanceof Problem) return [...head, failure(answer)];
    return [...head, ...(await sent(answer, question))];
  },

  async search({ at }) {
    const value = (name) => at.get(name) ?? '', explain = value('explain') === 'true';
    const asked = form('search', null,
      field('Words or a question', 'q', value('q'), { class: 'wide', placeholder: 'Where is my order?' }),
      choice('Of', 'kind', value('kind'), [['', 'everything'], ['message', 'messages'], ['record', 'records']]),
      field('Only what matches', 'filter', value('filter'), { class: 'rest', placeholder: 'role = user' }),
      field('As of', 'as_of', value('as_of'), { class: 'some', placeholder: '2026-01-31T12:00:00Z' }), field('Hits', 'limit', value('limit') || '10', { class: 'short', type: 'number', min: 1, max: 1000 }),
      check('Explain', 'explain', explain));
    const head = [el('h1', {}, 'Search'), el('p', { class: 'lead' }, 'By words and by meaning, over messages and records. Without a question, the newest.'), asked];
    const body = { query: value('q'), limit: Number(value('limit') || 10), explain, pending: true };
    for (const name of ['kind', 'filter', 'as_of']) if (value(name)) body[name] = value(name);
    const found = await ask('search', body).catch((problem) => problem);
    if (found instanceof Problem) return [...head, failure(found)];
    const most = largest(found.hits.map((hit) => hit.signals)), receipt = found.receipt;
    const known = receipt ? await wordsOf(receipt.left_out.map((one) => one.item)) : new Map();
    return [...head, degraded(found.degraded), behind(found.pending),
      receipt ? el('div', { class: 'card pad', id: 'explained' }, facts([
        ['Searched for', receipt.terms.length > 0 ? receipt.terms.map((term) => [tag(term), ' ']) : 'the newest'], ['Terms left out', receipt.terms_left_out || null],
        ['About the time', receipt.times.join(', ')], ['Said by', receipt.speaker && plain(receipt.speaker)],
        ['Candidates', `${count(receipt.text_candidates)} by words, ${count(receipt.vector_candidates)} by meaning`],
        ['Further down, not listed', receipt.not_listed || null], ['Gone since they were indexed', receipt.dropped_at_hydration || null], ['Took', `${(receipt.took_micros / 1000).toFixed(1)} ms`]])) : null,
      el('h2', {}, many(found.hits.length, 'hit')),
      found.hits.length === 0 ? empty('Nothing was found.') : el('ul', { class: 'list card', id: 'hits' }, found.hits.map((hit) =>
        el('li', { class: 'item', tabindex: '-1', 'data-href': placeOf(hit), 'data-id': hit.id },
          meta(hit, el('span', { class: 'end' }, el('a', { href: placeOf(hit) }, hit.unit === 'record' ? 'Open' : plain(hit.title ?? hit.session)), forgetting(hit))),
          words(hit.passage.text, hit.passage.matches), explain ? signals(hit.signals, most) : null))),
      receipt ? leftOut(receipt.left_out, known) : null];
  },

  async records({ name, at }) {
    if (name) return oneRecord(name, at.get('after'));
    const value = (name) => at.get(name) ?? '', all = value('all') === 'true';
    const asked = form('records', null, field('Kind', 'kind', value('kind'), { placeholder: 'fact' }), field('Tag', 'tag', value('tag')),
      field('Only what matches', 'filter', value('filter'), { class: 'wide', placeholder: 'importance >= 0.5' }),
      field('As of', 'as_of', value('as_of'), { class: 'some', placeholder: '2026-01-31T12:00:00Z' }), check('Superseded ones too', 'all', all));
    const head = [el('h1', {}, 'Records'), el('p', { class: 'lead' }, 'Facts, preferences and other notes, when they are true, and what took their place.'), asked];
    const parameters = Object.fromEntries(['kind', 'tag', 'filter', 'as_of', 'after'].map((name) => [name, value(name)]));
    const found = await read('records', { ...parameters, all, limit: 100 }).catch((problem) => problem);
    if (found instanceof Problem) return [...head, failure(found)];
    return [...head,
      found.records.length === 0 ? empty('There are no such records.') : el('ul', { class: 'list card' }, found.records.map((record) => recordItem(record))),
      found.next ? el('p', {}, el('a', { href: address('records', '', { ...parameters, all, after: found.next }) }, 'More records')) : null];
  },

  async forget({ at }) {
    const ids = (at.get('ids') ?? '').split(/[\s,]+/).filter(Boolean), session = at.get('session') ?? '', everything = at.get('everything') === 'true';
    const head = [el('h1', {}, 'Forget'), el('p', { class: 'lead' }, 'For good, with all that was derived from it, in every store. The receipt tells what each of them did.')];
    if (ids.length > 0 || session || everything) return [...head, ...(await erasing(ids, session, everything))];
    return [...head,
      el('div', { class: 'two' },
        el('div', { class: 'card pad' }, el('h2', {}, 'Messages and records'), form('forget', null, field('Their ids', 'ids', '', { class: 'wide', required: true }))),
        el('div', { class: 'card pad' }, el('h2', {}, 'A session'), form('forget', null, field('Its name', 'session', '', { class: 'wide', required: true }))),
        el('div', { class: 'card pad' }, el('h2', {}, 'Everything'), el('p', { class: 'soft' }, 'Every session and record of this owner.'),
          el('a', { href: address('forget', '', { everything: true }) }, 'Everything …')))];
  },

  async health() {
    const status = await read('status'), { journal } = status, dead = status.indexes.reduce((sum, one) => sum + (one.dead ?? 0) + one.given_up, 0);
    const pending = Math.max(0, ...status.indexes.map((one) => one.pending ?? 0)), away = status.stores.filter((store) => !store.answers).length;
    const figure = (value, text, isBad) => el('div', { class: 'card pad' }, el('div', { class: `figure num ${isBad ? 'missed' : ''}` }, value), soft(text));
    const version = (store) => (store.server ? `${store.server}${store.version ? ` ${store.version}` : ''}` : null);
    return [
      el('h1', {}, 'Health'), el('p', { class: 'lead' }, `${status.subject} of ${status.tenant} · may ${status.rights.join(', ')} · version ${status.version}`),
      el('div', { class: 'two' }, figure(away === 0 ? 'All' : `${status.stores.length - away} of ${status.stores.length}`, 'stores answer', away > 0),
        figure(count(pending), 'notes wait for an index'), figure(count(dead), 'notes were given up', dead > 0), journal ? [
          figure(count(journal.waiting), `messages wait in the journal, ${many(journal.bytes, 'byte')}`),
          // Their store will never take them: that is for whoever runs the server to settle.
          figure(journal.refused === null ? 'Unknown' : count(journal.refused), 'messages of the journal were refused for good', journal.refused !== 0)] : null),
      el('h2', {}, 'Stores'),
      table(['Part', 'Backend', 'Server', 'Answers', 'Durability', 'Writes'], status.stores.map((store) => [store.part, store.backend, version(store),
        store.answers ? tag('yes', 'good') : tag('no', 'bad'), store.durability, store.answers ? (store.read_only ? 'refused' : 'taken') : null])),
      el('h2', {}, 'Indexes', el('small', {}, 'how far they are behind, for this owner')),
      table(['Index', 'Waiting', 'Dead', 'Given up', 'Enlisted'], status.indexes.map((one) => [el('code', {}, one.index), one.pending === null ? tag('does not answer', 'bad') : count(one.pending),
        one.dead === null ? null : one.dead > 0 ? tag(count(one.dead), 'bad') : '0', one.given_up > 0 ? tag(count(one.given_up), 'bad') : '0', one.noted ? 'all' : 'not yet all'])),
      el('p', {}, el('button', { type: 'button', id: 'again', onclick: show }, 'Look again')),
    ];
  },
};

const NAMES = { sessions: 'Sessions', context: 'Context', search: 'Search', records: 'Records', forget: 'Forget', health: 'Health' };

// ---- A session ----

/** How many messages are read at once. */
const PAGE = 100;

async function timeline(name, at) {
  // A browser takes them for steps in the path, escaped or not: another session would be shown.
  if (name === '.' || name === '..') return [failure(new Problem(0, 'a browser cannot ask for a session of this name'))];
  const path = `sessions/${encodeURIComponent(name)}`, wanted = Number(at.get('at')) || 0;
  const page = (edge) => read(`${path}/messages`, { view: 'all', limit: PAGE, ...edge });
  const [state, first] = await Promise.all([read(path), page(wanted ? { after: Math.max(0, wanted - PAGE / 2) } : {})]);
  const list = el('ul', { class: 'list', id: 'timeline' }), range = el('span', { class: 'num', id: 'range' });
  let low = Infinity, high = 0;
  const put = (rows, isBefore) => {
    const items = rows.map((row) => messageItem(row, row.seq === wanted && row.state !== 'summary'));
    rows.forEach((row) => { low = Math.min(low, row.seq); high = Math.max(high, row.seq); });
    if (isBefore) list.prepend(...items);
    else list.append(...items);
    range.textContent = rows.length === 0 && high === 0 ? 'none' : `${count(low)} to ${count(high)} of ${count(state.messages)}`;
    earlier.hidden = low <= 1;
    later.hidden = high >= state.messages;
  };
  const extend = (isBefore) => async () => {
    const box = isBefore ? earlier : later, button = box.firstChild;
    const answer = await page(isBefore ? { before: low } : { after: high }).catch((problem) => problem);
    if (answer instanceof Error) return box.replaceChildren(button, failure(answer));
    box.replaceChildren(button);
    const { shown } = answer;
    const from = document.documentElement.scrollHeight;
    put(shown, isBefore);
    if (shown.length === 0) box.hidden = true;
    if (isBefore) scrollBy(0, document.documentElement.scrollHeight - from);
  };
  const earlier = el('div', { class: 'more' }, el('button', { type: 'button', id: 'earlier', onclick: extend(true) }, 'Earlier messages'));
  const later = el('div', { class: 'more' }, el('button', { type: 'button', id: 'later', onclick: extend(false) }, 'Later messages'));
  put(first.shown, false);
  const jump = form('sessions', 'session', el('input', { type: 'hidden', name: 'session', value: name }), field('Go to number', 'at', wanted || '', { class: 'short', type: 'number', min: 1, max: state.messages }));
  return [
    el('h1', { dir: 'auto' }, plain(state.title ?? name)),
    el('p', { class: 'lead' }, plain(name), ` · ${many(state.messages, 'message')}, the newest `, when(state.last_at),
      ` · window: ${many(state.window_messages, 'message')}, ${many(state.window_tokens, 'token')}`),
    jump,
    el('div', { class: 'meta' }, 'Messages ', range, el('span', { class: 'end' },
      el('a', { href: address('context', name) }, 'Context'), el('a', { href: address('search', '', { filter: `session = ${quoted(name)}` }) }, 'Search here'),
      el('a', { href: address('forget', '', { session: name }) }, 'Forget this session'))),
    el('div', { class: 'card' }, earlier, list, later),
  ];
}

const quoted = (text) => `"${text.replace(/["\\]/g, '\\$&')}"`;

function messageItem(row, isHere) {
  const isOld = ['archived', 'replaced', 'forgotten'].includes(row.state), stands = ['summary', 'archive'].includes(row.state);
  const more = row.state === 'forgotten' ? null : el('span', { class: 'end' }, el('span', { class: 'num' }, many(row.tokens, 'token')), forgetting(row));
  return el('li', { class: `item ${isOld ? 'old' : ''} ${stands ? 'of-summary' : ''} ${isHere ? 'here' : ''}`, tabindex: '-1', 'data-seq': row.seq, 'data-state': row.state },
    meta(row, row.covers ? soft(`for ${row.covers[0]} to ${row.covers[1]}`) : null, more),
    row.state === 'forgotten' ? el('div', { class: 'gone' }, 'forgotten') : words(row.text || '(no words)'));
}

// ---- A context ----

const PARTS = ['instructions', 'synopsis', 'summaries', 'history', 'recalled', 'query'];
const PART_OF = { instruction: 'instructions', synopsis: 'synopsis', summary: 'summaries', history: 'history', recalled: 'recalled', query: 'query' };
/** Why messages of the window are not sent. */
const WINDOW = {
  no_room: 'found no room', no_start: 'have no person who speaks before them', unpaired: 'are calls or results without the other half', untrusted: 'are system messages that are not trusted as instructions', outside: 'are older than the window',
  unfinished: 'are calls that wait for results', instructions_left_out: 'are instructions without room',
};

async function sent(answer, question) {
  const { receipt } = answer, { tokens, included, history, search } = receipt;
  const free = Math.max(0, tokens.limit - tokens.total), known = await wordsOf([...included, ...search.left_out].map((one) => one.item));
  const pieces = [...PARTS.map((part) => [part, tokens[part] ?? 0]), ['free', free], ['reserved', tokens.reserved]].filter(([, number]) => number > 0);
  const most = largest(included.map((one) => one.signals));
  if (tokens.query > 0 && !included.some((one) => one.part === 'query')) included.push({ item: '', part: 'query', tokens: tokens.query });
  const missing = Object.entries(WINDOW).filter(([name]) => history[name] > 0);
  return [
    degraded(search.degraded), behind(answer.pending),
    el('div', { class: 'card pad' },
      el('div', { class: 'meta' }, el('b', { class: 'num', id: 'total', 'data-tokens': tokens.total }, `${count(tokens.total)} of ${many(tokens.limit, 'token')}`),
        el('span', { class: 'end' }, `counted as ${receipt.counter} · ${(receipt.took_micros / 1000).toFixed(1)} ms`)),
      el('div', { class: 'bar', id: 'bar', role: 'img', 'aria-label': pieces.map(([part, number]) => `${part} ${number}`).join(', ') },
        pieces.map(([part, number]) => el('i', { class: part, grow: number, title: `${part}: ${many(number, 'token')}`, 'data-part': part, 'data-tokens': number }))),
      el('ul', { class: 'legend' }, pieces.map(([part, number]) => el('li', {}, el('i', { class: part }), part, el('b', { class: 'num' }, count(number)))))),
    el('h2', {}, 'Sent', el('small', {}, `${many(included.length, 'item')}, in this order`)),
    included.length === 0 ? empty('Nothing.') : el('ul', { class: 'list card', id: 'sent' }, included.map((one) => sentItem(one, known.get(one.item), most, question))),
    missing.length > 0 ? [el('h2', {}, 'Left out of the window'), el('ul', { class: 'card pad small' }, missing.map(([name, why]) => el('li', {}, `${many(history[name], 'message')}: they ${why}`)))] : null,
    leftOut(search.left_out, known),
    json('As it is sent: messages in the JSON of OpenAI', answer.messages), json('The receipt', receipt),
  ];
}

function sentItem({ item, part, tokens, signals: of }, value, most, question) {
  const kind = PART_OF[part];
  const text = value?.text ?? (part === 'query' ? question : null);
  const end = el('span', { class: 'end' }, el('span', { class: 'num' }, part === 'recalled' && tokens === 0 ? 'counted with the block' : many(tokens, 'token')),
    value ? el('a', { href: placeOf(value) }, 'Open') : null);
  return el('li', { class: 'item', tabindex: '-1', 'data-item': item, 'data-href': value ? placeOf(value) : null }, value ? meta(value, tag(part, kind), end) : el('div', { class: 'meta' }, tag(part, kind), end),
    text ? words(text) : el('div', { class: 'gone' }, value ? '(no words)' : 'held by this process alone'), signals(of, most));
}

// ---- Records ----

function recordItem(record, isNow = false) {
  const from = record.valid_from, until = record.valid_to;
  return el('li', { class: `item ${record.current ? '' : 'old'} ${isNow ? 'now' : ''}`, tabindex: '-1', 'data-href': address('records', record.id), 'data-id': record.id },
    meta(record, validity(record), from || until ? el('span', {}, 'true ', from ? ['from ', when(from)] : null, until ? [' until ', when(until)] : null) : null,
      record.pinned ? tag('pinned') : null, el('span', { class: 'end' }, el('a', { href: address('records', record.id) }, 'Open'), forgetting(record))),
    words(record.text));
}

async function oneRecord(id, after) {
  const path = `records/${encodeURIComponent(id)}`;
  const [record, { records, next }] = await Promise.all([read(path), read(`${path}/history`, { after })]);
  const sources = await wordsOf(record.sources.flatMap((source) => [`m-${source}`, `r-${source}`]));
  return [
    el('h1', {}, 'Record'), el('div', { class: 'card' }, el('div', { class: 'item', tabindex: '-1' }, meta(record, validity(record), el('span', { class: 'end' }, forgetting(record))), words(record.text))),
    el('h2', {}, 'What is known of it'),
    el('div', { class: 'card pad' }, facts([
      ['Id', el('code', {}, record.id)], ['Kind', plain(record.kind)], ['Trust', record.trust], ['Told', when(record.at)], ['Told by', record.origin && plain(record.origin)],
      ['Session', record.session && el('a', { href: address('sessions', record.session) }, plain(record.session))], ['Agent', record.agent && plain(record.agent)],
      ['True from', when(record.valid_from)], ['True until', when(record.valid_to)], ['Superseded', when(record.superseded_at)],
      ['By', record.superseded_by && el('a', { href: address('records', record.superseded_by) }, id8(record.superseded_by))],
      ['Expires', when(record.expires_at)], ['Importance', record.importance], ['Pinned', record.pinned ? 'yes' : null], ['Version', record.version],
      ['Derived from', sources.size > 0 ? [...sources.values()].map((item) => el('div', {}, el('a', { href: placeOf(item) }, plain((item.text ?? 'forgotten').slice(0, 120))))) : null]])),
    el('h2', {}, 'The chain', el('small', {}, records.length > 1 || after || next ? 'what it took the place of, and what took its place' : 'it took the place of nothing, and nothing took its place')),
    el('ul', { class: 'list card chain', id: 'chain' }, records.map((one) => recordItem(one, one.current))),
    next ? el('p', {}, el('a', { href: address('records', id, { after: next }) }, 'More of the chain')) : null,
    json('As JSON', record),
  ];
}

// ---- Forgetting ----

async function erasing(ids, session, everything) {
  const known = ids.length > 0 ? [...(await wordsOf(ids.flatMap((id) => [`m-${id}`, `r-${id}`]))).values()] : [];
  const what = everything ? 'everything of this owner' : session ? `the session ${session}` : many(ids.length, 'item');
  const subject = owner?.subject ?? '', typed = el('input', { id: 'typed', autocomplete: 'off', 'aria-label': 'Type the subject' });
  const result = el('div', { id: 'result' });
  const button = el('button', { type: 'submit', class: 'danger', id: 'confirm' }, 'Forget for good');
  const box = el('form', { class: 'ask' }, everything ? el('label', {}, `Type ${subject} to go on`, typed) : null, button, el('a', { href: address('forget') }, 'Rather not'));
  box.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (everything && typed.value !== subject) return typed.focus();
    button.disabled = true;
    let receipt;
    try {
      receipt = await ask('forget', everything ? { everything: true } : session ? { session } : { ids });
    } catch (problem) {
      button.disabled = false;
      return result.replaceChildren(failure(problem));
    }
    // It is done: what fails from here on does not take the receipt away.
    box.remove();
    result.replaceChildren(...(await receiptOf(receipt)).flat(Infinity).filter(Boolean));
    document.getElementById('receipt')?.focus();
    try {
      result.append(...[await proof(known, session, everything)].flat(Infinity).filter(Boolean));
    } catch (problem) {
      result.append(failure(problem));
    }
  });
  return [
    el('h2', {}, plain(what)),
    known.length > 0 ? el('ul', { class: 'list card' }, known.map((item) => el('li', { class: 'item', tabindex: '-1' }, meta(item), words(item.text)))) : null,
    ids.length > 0 && known.length === 0 ? empty('Nothing has these ids.') : null, el('p'), box, result];
}

/** The receipt of a forget, store by store. */
async function receiptOf(receipt) {
  const status = await read('status').catch(() => ({ stores: [] })), said = new Map(receipt.stores.map((store) => [`${store.part} ${store.backend}`, store]));
  const rows = status.stores.map((store) => {
    const own = said.get(`${store.part} ${store.backend}`);
    said.delete(`${store.part} ${store.backend}`);
    if (own) return storeRow(own);
    const isIndex = ['text', 'vectors'].includes(store.part), isTruth = ['chat', 'records'].includes(store.part);
    return [store.part, store.backend, null, null, isTruth ? 'erased' : isIndex ? (receipt.complete ? 'deletion confirmed' : 'asked') : 'not asked'];
  });
  const rest = [...said.values()].map(storeRow);
  return [
    el('h2', { id: 'receipt', tabindex: '-1' }, 'Receipt', receipt.complete ? el('span', { class: 'done' }, '✓ complete') : el('span', { class: 'missed' }, 'not complete yet: upkeep goes on with it')),
    el('p', {}, `${many(receipt.removed, 'message or record', 'messages and records')} removed, ${count(receipt.derived)} of them derived from what was named.`,
      receipt.unknown?.length > 0 ? ` ${many(receipt.unknown.length, 'id')} named nothing.` : null),
    table(['Store', 'Backend', 'Removed', 'Left', 'How'], [...rows, ...rest]),
    receipt.unasked.map((one) => el('p', { class: 'missed' }, `The index ${one.index} is not open here and was not asked; ${one.notes ?? 'some'} notes wait for it.`))];
}

function storeRow(store) {
  return [store.part, store.backend, count(store.removed), store.remaining === null ? tag('unknown', 'bad') : count(store.remaining),
    store.why ? el('span', { class: 'missed' }, plain(store.why)) : store.level === 'physical' ? 'no byte is left' : store.level === 'logical' ? 'no call returns it' : store.level];
}

/** Searches for what was forgotten. */
async function proof(known, session, everything) {
  const text = known.map((item) => item.text).filter(Boolean).join(' ').slice(0, 300), gone = new Set(known.map((item) => item.id));
  if (!text && !session && !everything) return null;
  const filter = session ? `session = ${quoted(session)}` : undefined;
  const found = await ask('search', { query: everything || session ? '' : text, limit: 100, filter });
  const left = everything || session ? found.hits : found.hits.filter((hit) => gone.has(hit.id));
  const where = everything ? 'everything' : session ? 'everything of the session' : 'its words';
  return [el('h2', {}, 'A search afterwards'), el('p', { id: 'proof', 'data-left': left.length, class: left.length === 0 ? 'done' : 'missed' },
    left.length === 0 ? `✓ A search for ${where} finds nothing of it.` : `A search still finds ${many(left.length, 'item')} of it.`),
  el('p', {}, el('a', { href: address('search', '', { q: everything || session ? '' : text, filter, explain: true }) }, 'Search yourself'))];
}

// ---- The frame ----

/** Whose memory it is, once the server has told. */
let owner = null;
let turn = 0;

const failure = (problem) => el('div', { class: 'card error', role: 'alert' }, plain(problem.message));

function signIn(why) {
  const token = el('input', { id: 'token', type: 'password', autocomplete: 'off', required: true }), subject = el('input', { id: 'subject', autocomplete: 'off', value: kept('subject') });
  const box = el('form', { class: 'ask' }, el('label', { class: 'wide' }, 'Token', token), el('label', {}, 'Subject, for the token of a tenant', subject), el('button', { class: 'main' }, 'Open'));
  box.addEventListener('submit', (event) => {
    event.preventDefault();
    keep('token', token.value.trim());
    keep('subject', subject.value.trim());
    owner = null;
    show();
  });
  return [el('h1', {}, 'Whose memory?'), el('p', { class: 'lead' }, 'A token opens one memory. ', el('code', {}, 'memory serve'), ' prints a link that holds one; ',
    el('code', {}, 'memory token new'), ' makes others. It stays in this tab.'), why ? failure(why) : null, box];
}

function frame(view) {
  document.title = `${NAMES[view] ?? 'memory'} · memory`;
  document.getElementById('nav').replaceChildren(...Object.entries(NAMES).map(([key, name], place) =>
    el('a', { href: address(key), title: `${place + 1}`, 'aria-current': key === view ? 'page' : null }, name)));
  document.getElementById('owner').replaceChildren(...(owner ? plain(`${owner.subject} · ${owner.tenant}`) : []));
}

async function content(place) {
  if (!kept('token')) return signIn();
  if (!owner) owner = await read('status');
  return (views[place.view] ?? views.sessions)(place);
}

let shownView = null;

/** Shows what the address says. */
async function show() {
  const mine = ++turn, place = here(), main = document.getElementById('main'), focused = document.activeElement?.id;
  let parts;
  try {
    parts = await content(place);
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    const isAccess = problem.status === 401 || (!owner && [400, 403].includes(problem.status));
    parts = isAccess ? signIn(problem) : [failure(problem), el('button', { type: 'button', onclick: show }, 'Try again')];
  }
  if (mine !== turn) return;
  frame(place.view);
  main.replaceChildren(...[parts].flat(Infinity).filter((part) => part !== null && part !== undefined));
  const same = shownView === location.hash.split('?')[0];
  const to = main.querySelector('.here') ?? (same && focused ? document.getElementById(focused) : null) ?? main.querySelector('#token');
  if (to) to.focus();
  else main.focus({ preventScroll: true });
  if (main.querySelector('.here')) main.querySelector('.here').scrollIntoView({ block: 'center' });
  else if (!same) scrollTo(0, 0);
  shownView = location.hash.split('?')[0];
  main.dataset.shown = location.hash;
}

/** Takes a token out of the address: it is in no history, and in nothing that is copied. */
function take() {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (!token) return;
  keep('token', token);
  keep('subject', '');
  history.replaceState(null, '', `${location.pathname}#/sessions`);
  owner = null;
}

// ---- Keys ----

const KEYS = [['1 … 6', 'the views'], ['/', 'the question, or the first field'], ['j  k', 'the next, the previous item'], ['Enter', 'open the item'], ['b', 'back'], ['t', 'light, dark, as the system'], ['?', 'these keys']];

function step(by) {
  const items = [...document.querySelectorAll('main .row, main .item')].filter((item) => item.checkVisibility());
  const at = items.findIndex((item) => item === document.activeElement || item.contains(document.activeElement));
  const next = items[at < 0 ? (by > 0 ? 0 : items.length - 1) : Math.max(0, Math.min(items.length - 1, at + by))];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}

function theme(change) {
  const all = ['', 'light', 'dark'], now = localStorage.getItem('memory-theme') ?? '';
  const next = change ? all[(all.indexOf(now) + 1) % all.length] : now;
  localStorage.setItem('memory-theme', next);
  document.documentElement.dataset.theme = next;
  document.getElementById('theme').title = `Theme: ${next || 'as the system'} (t)`;
}

function help() {
  const box = document.getElementById('help');
  box.replaceChildren(el('h2', {}, 'Keys'), facts(KEYS.map(([key, what]) => [el('kbd', {}, key), what])), el('p', {}, el('button', { type: 'button', onclick: () => box.close() }, 'Close')));
  box.showModal();
}

document.addEventListener('keydown', (event) => {
  const target = event.target;
  if (event.ctrlKey || event.metaKey || event.altKey || document.getElementById('help').open) return;
  if (target.matches('input, select, textarea')) {
    if (event.key === 'Escape') document.getElementById('main').focus();
    return;
  }
  const views = Object.keys(NAMES), number = Number(event.key);
  const keys = {
    '/': () => { const first = document.querySelector('main #q') ?? document.querySelector('main input:not([type="hidden"])'); if (first) first.focus(); else location.hash = address('search'); },
    j: () => step(1), k: () => step(-1), b: () => history.back(), t: () => theme(true), '?': help,
    Enter: () => { if (target.dataset.href) location.hash = target.dataset.href; },
  };
  if (number >= 1 && number <= views.length) location.hash = address(views[number - 1]);
  else if (keys[event.key]) keys[event.key]();
  else return;
  if (event.key !== 'Enter' || target.dataset.href) event.preventDefault();
});

document.getElementById('keys').addEventListener('click', help);
document.getElementById('theme').addEventListener('click', () => theme(true));
document.getElementById('skip').addEventListener('click', (event) => { event.preventDefault(); document.getElementById('main').focus(); });
addEventListener('hashchange', () => { take(); show(); });
theme(false);
take();
show();
