import { makePocketSphinxTranscriber } from "./src/pocketsphinx/PocketSphinxTranscriber.ts"
import { speakToWav, withSilence } from "./src/testing/speakToWav.ts"
import { Effect } from "effect"
const q=(a:number[],p:number)=>a.sort((x,y)=>x-y)[Math.floor(a.length*p)]!.toFixed(1)
const sents=["hello i would like to book an appointment for tomorrow morning","my name is john and i need a haircut on wednesday","yes please","no thank you","three thirty in the afternoon"]
for (const gap of [550, 60, 0]) await Effect.runPromise(Effect.scoped(Effect.gen(function*(){
  const t0=performance.now(); const tr=yield* makePocketSphinxTranscriber()
  let onFinal=(t:string)=>{}; let firstPartial=0
  const s=yield* tr.open({language:'en',keyterms:[],onEvent:e=>{ if(e._tag==='Final') onFinal(e.text); else if(!firstPartial) firstPartial=performance.now() },onFailure:e=>console.log(e)})
  console.log('open',(performance.now()-t0).toFixed(0))
  const lat:number[]=[]
  for (let r=0;r<2;r++) for (const t of sents){ let sp=speakToWav(t,"rms"); const last=sp.findLastIndex(x=>Math.abs(x)>300); sp=sp.slice(0,last); const sig=new Int16Array(sp.length+gap*16+8000); sig.set(sp,8000)
    let at=performance.now(); 
    for (let i=0;i<sig.length;i+=320){ s.push(sig.subarray(i,i+320)); at+=20; const d=at-performance.now(); if(d>0) yield* Effect.sleep(d) }
    const c=performance.now(); const txt=yield* Effect.callback<string>(r=>{ onFinal=t=>r(Effect.succeed(t)); s.commit() }); lat.push(performance.now()-c); if(r==0) console.log(gap,t,'=>',txt) }
  console.log('gap',gap,'commit->final p50',q(lat,.5),'max',q(lat,.99))
})))
