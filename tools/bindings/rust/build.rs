// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Compiles and links the libtwheel that is in this crate. With the feature "system", and in a tree
//! without the library's source, links the library that pkg-config finds instead. A static program
//! gets the static library.
use std::env::var;
use std::path::Path;
use std::process::Command;

/// Returns the program that a variable such as CC names. As in the crate "cc", a variable for this
/// target, such as CC_x86_64-unknown-linux-gnu, comes before the one for all targets.
fn tool(name: &str, default: &str) -> String {
    let target = var("TARGET").unwrap();
    let suffix = target.replace('-', "_");
    let names = [format!("{name}_{target}"), format!("{name}_{suffix}"), format!("TARGET_{name}"), name.to_string()];
    names.iter().for_each(|name| println!("cargo:rerun-if-env-changed={name}"));
    names.iter().find_map(|name| var(name).ok()).unwrap_or_else(|| default.to_string())
}

fn run(program: &str, arguments: &[&str]) {
    let mut words = program.split_whitespace();
    let ended = Command::new(words.next().unwrap_or("cc")).args(words).args(arguments).status();
    if !matches!(&ended, Ok(status) if status.success()) {
        panic!("{program}: {ended:?}. A C compiler makes libtwheel. Try: apt install gcc libc6-dev, or set CC");
    }
}

fn compile(names: &[&str]) {
    let out = var("OUT_DIR").unwrap();
    let archive = format!("{out}/libtwheel.a");
    // "ar" adds to an archive, so remove that of an earlier build.
    let _ = std::fs::remove_file(&archive);
    for name in names {
        let source = format!("libtwheel/{name}.c");
        let object = format!("{out}/{name}.o");
        println!("cargo:rerun-if-changed={source}");
        run(&tool("CC", "cc"), &["-std=gnu11", "-O2", "-fPIC", "-pthread", "-c", &source, "-o", &object]);
        run(&tool("AR", "ar"), &["rcs", &archive, &object]);
    }
    println!("cargo:rustc-link-search=native={out}");
    println!("cargo:rustc-link-lib=static=twheel");
}

fn find() {
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    let said = Command::new("pkg-config").args(["--libs-only-L", "libtwheel"]).output();
    let directories = match said {
        Ok(said) if said.status.success() => said.stdout,
        _ => panic!(
            "pkg-config does not know libtwheel. Try: apt install pkg-config libtwheel-dev, \
             or make tools_install in the sources of twheel"
        ),
    };
    for directory in String::from_utf8_lossy(&directories).split_whitespace() {
        println!("cargo:rustc-link-search=native={}", directory.trim_start_matches("-L"));
    }
    let features = var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    let is_static = features.split(',').any(|feature| feature == "crt-static");
    println!("cargo:rustc-link-lib={}=twheel", if is_static { "static" } else { "dylib" });
}

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let sessions = var("CARGO_FEATURE_SESSION").is_ok();
    if var("CARGO_FEATURE_SYSTEM").is_err() && Path::new("libtwheel/twheel.c").exists() {
        compile(if sessions { &["twheel", "twheel_timer"] } else { &["twheel_timer"] })
    } else if sessions {
        find()
    }
    // Otherwise the crate has only timers, and the program links twheel_timer.c itself.
}
