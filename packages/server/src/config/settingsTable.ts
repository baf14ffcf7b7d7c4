// Every setting, its default and what it means: the documentation. The README repeats it and a test holds the two
// together.
import { defaultVendor } from "@parley/contract/Vendor"

/** Name, default as shown, meaning. */
export const table: ReadonlyArray<readonly [name: string, fallback: string, meaning: string]> = [
  ["HOST", "127.0.0.1", "address to listen on"],
  ["PORT", "8080", "one port for API, console and signalling; 0 for any free one"],
  ["PARLEY_DATA", "./data", "folder for the embedded database, keys and recordings"],
  [
    "PARLEY_PUBLIC_URL",
    "",
    "address callers reach the service by, when it is not the one they ask for (behind a proxy)"
  ],
  [
    "PARLEY_API_KEY",
    "",
    "the first workspace's key, at least 32 characters, instead of a generated one; another value retires the one before, and one that was revoked stays revoked"
  ],
  ["DATABASE_URL", "", "a PostgreSQL of your own; unset: an embedded one in the data folder"],
  ["PARLEY_SECRET_KEY", "", "seals stored secrets, at least 16 characters; unset: generated in the data folder"],
  [
    "PARLEY_SECRET_KEY_OLD",
    "",
    "the keys before this one, separated by commas, while what they sealed is sealed again; the log says when they can go"
  ],
  [
    "PARLEY_TTS",
    "flite",
    "synthesizers in order: flite, sherpa, espeak (to be installed before, see packages/speech/optional/espeak), and openai or elevenlabs; openai alone when only an address is set, sherpa alone when only a folder is"
  ],
  [
    "PARLEY_TTS_BASE_URL",
    "",
    "openai: an OpenAI-compatible /audio/speech endpoint, up to and without that path; elevenlabs: what comes before /v1, https://api.elevenlabs.io when unset, {address}/compat/elevenlabs for another Parley"
  ],
  ["PARLEY_TTS_MODEL", "tts-1", "its model; eleven_flash_v2_5 for elevenlabs"],
  ["PARLEY_TTS_API_KEY", "", "its key"],
  ["PARLEY_TTS_VOICES", "", "its voices, separated by commas; the first is the default; elevenlabs needs one"],
  ["PARLEY_TTS_MODEL_FOLDER", "", "sherpa: a folder with a Kokoro, VITS, Piper or ZipVoice model for sherpa-onnx"],
  [
    "PARLEY_ASR",
    "pocketsphinx",
    "recognisers in order: pocketsphinx, sherpa, and openai, elevenlabs or deepgram; openai alone when only an address is set, sherpa alone when only a folder is"
  ],
  [
    "PARLEY_ASR_BASE_URL",
    "",
    "openai: an OpenAI-compatible /audio/transcriptions endpoint, up to and without that path; elevenlabs and deepgram: what comes before /v1, https://api.elevenlabs.io and https://api.deepgram.com when unset"
  ],
  ["PARLEY_ASR_MODEL", "whisper-1", "its model; scribe_v2_realtime for elevenlabs, nova-3 for deepgram"],
  ["PARLEY_ASR_API_KEY", "", "its key"],
  ["PARLEY_ASR_MODEL_FOLDER", "", "sherpa: a folder with a recogniser for sherpa-onnx, streaming or not"],
  ["PARLEY_LLM", "demo", "language models in order: demo, openai; openai alone when its address is set"],
  ["PARLEY_LLM_BASE_URL", "", "an OpenAI-compatible /chat/completions endpoint, up to and without that path"],
  ["PARLEY_LLM_MODEL", "default", "its model"],
  ["PARLEY_LLM_API_KEY", "", "its key"],
  ["PARLEY_LLM_EXTRA_BODY", "{}", "JSON object merged into each of its requests"],
  [
    "PARLEY_EMBEDDINGS_BASE_URL",
    "",
    "an OpenAI-compatible /embeddings endpoint, up to and without that path; unset: documents are searched by words alone"
  ],
  ["PARLEY_EMBEDDINGS_MODEL", "text-embedding-3-small", "its model"],
  ["PARLEY_EMBEDDINGS_API_KEY", "", "its key"],
  ["PARLEY_RECORDINGS_DAYS", "0", "days until the recording of a call is removed; 0: never"],
  ["PARLEY_MAX_CALLS", "100", "live calls at the same time"],
  [
    "PARLEY_MAX_CALLS_PER_WORKSPACE",
    "",
    "of one workspace; unset: all but a tenth, which is kept for others, where there is more than one workspace"
  ],
  [
    "PARLEY_MAX_PUBLIC_CALLS_PER_AGENT",
    "",
    "of visitors without a key and of callers by telephone, at one agent; unset: all but a tenth"
  ],
  ["PARLEY_MAX_PUBLIC_CALLS_PER_ADDRESS", "", "of visitors without a key from one address; unset: a tenth, at least 2"],
  [
    "PARLEY_TRIAL_BALANCE",
    "",
    "currency units each workspace may spend before it is topped up, the first too; unlimited: nothing is refused for money; unset: 5, and the first workspace, the operator's own, is unlimited"
  ],
  ["PARLEY_MEDIA_ADDRESS", "", "IP address that callers' media reaches, when it is none of this machine's own (NAT)"],
  ["PARLEY_MEDIA_PORTS", "", "UDP ports for media, such as 40000-40999; unset: any free ones"],
  ["PARLEY_SIP_PORT", "5060", "UDP and TCP port of the telephone (SIP); 0 for any free one; off: no telephone"],
  ["PARLEY_SIP_TLS_PORT", "", "TCP port for SIP over TLS, usually 5061"],
  ["PARLEY_SIP_TLS_CERT", "", "its certificate, a PEM file"],
  ["PARLEY_SIP_TLS_KEY", "", "its key, a PEM file"],
  ["PARLEY_PUBLIC_ADDRESS", "", "IP address that telephone peers reach, when it is none of this machine's own (NAT)"],
  ["PARLEY_RTP_PORTS", "", "UDP ports for the sound of telephone calls, such as 10000-19999; unset: any free ones"],
  ["PARLEY_CALL_COUNTRIES", "US,CA", "countries that bought numbers may call, by their two letters"],
  ["PARLEY_VENDOR", defaultVendor, "the word for the service in header and model names"],
  ["PARLEY_VENDOR_ALIASES", "fish-audio", "further words understood in its place, separated by commas"],
  [
    "PARLEY_ALLOW_PRIVATE_NETWORKS",
    "",
    "private hosts, or blocks of addresses, that agents and the telephone may call, separated by commas"
  ],
  [
    "PARLEY_TRUSTED_PROXIES",
    "",
    "addresses, or blocks of them, of proxies in front of the service, whose X-Forwarded-For names the client; separated by commas"
  ],
  ["PARLEY_LOG_LEVEL", "info", "debug, info, warn or error"],
  [
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "",
    "where telemetry goes; the other standard OTEL_* variables count too; unset: nowhere"
  ]
]

/** Empty for a name that is no setting. */
export const fallbackOf = (name: string): string => table.find(([known]) => known === name)?.[1] ?? ""
