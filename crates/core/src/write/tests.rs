//! Tests of writing: files are whole, on the disk, locked and where they were asked for.

use super::*;
use std::path::PathBuf;

/// The names in a folder, in order.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|item| item.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_failed_write_leaves_the_old_file_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    whole(&path, b"old").unwrap();
    assert!(streamed(&path, |out| out.write_all(b"new").and(Err(io::Error::other("broken")))).is_err());
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(names(folder.path()), ["a.txt"]);
    whole(&path, b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    check(&path).unwrap();
    assert_eq!((fs::read(&path).unwrap(), names(folder.path())), (b"new".to_vec(), vec!["a.txt".to_owned()]));
}

#[cfg(unix)]
#[test]
fn a_link_stays_and_the_file_behind_it_is_replaced() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("below")).unwrap();
    whole(&at("below/file"), b"old").unwrap();
    symlink("below/file", at("first")).unwrap();
    symlink(at("first"), at("second")).unwrap();
    whole(&at("second"), b"new").unwrap();
    assert!(at("second").is_symlink() && at("first").is_symlink());
    assert_eq!(fs::read(at("below/file")).unwrap(), b"new");
    assert_eq!(names(&at("below")), ["file"]);
    // a link to nothing makes the file it names
    symlink("below/later", at("dangling")).unwrap();
    whole(&at("dangling"), b"made").unwrap();
    assert!(at("dangling").is_symlink());
    assert_eq!(fs::read(at("below/later")).unwrap(), b"made");
    symlink("circle", at("circle")).unwrap();
    assert!(whole(&at("circle"), b"").unwrap_err().to_string().contains("too many symbolic links"));
}

#[cfg(unix)]
#[test]
fn the_mode_of_an_old_file_is_kept_and_a_new_file_has_that_of_any_other() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    let (path, plain) = (folder.path().join("model"), folder.path().join("plain"));
    fs::write(&plain, b"").unwrap();
    whole(&path, b"1").unwrap();
    assert_eq!(mode(&path), mode(&plain));
    for wanted in [0o600, 0o640, 0o664] {
        fs::set_permissions(&path, fs::Permissions::from_mode(wanted)).unwrap();
        whole(&path, b"2").unwrap();
        assert_eq!(mode(&path), wanted, "{wanted:o}");
    }
    // while the new file is being written, nobody else may read it
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    streamed(&path, |out| {
        let aside = names(folder.path()).into_iter().find(|name| name.starts_with(".mercer.")).unwrap();
        assert_eq!(mode(&folder.path().join(aside)), 0o600);
        out.write_all(b"3")
    })
    .unwrap();
    assert_eq!(mode(&path), 0o644);
}

#[cfg(unix)]
#[test]
fn a_pipe_is_written_to_and_a_device_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
    let reader = {
        let pipe = pipe.clone();
        std::thread::spawn(move || fs::read(pipe).unwrap())
    };
    whole(&pipe, b"through").unwrap();
    assert_eq!(reader.join().unwrap(), b"through");
    assert_eq!(names(folder.path()), ["pipe"]);
    whole(Path::new("/dev/null"), b"nothing").unwrap();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
    assert!(whole(Path::new("/dev/full"), b"nothing").is_err());
    assert!(is_standard_output(Path::new("/dev/stdout")) && is_standard_output(Path::new("-")));
    assert!(!is_standard_output(&pipe) && !is_standard_output(Path::new("/dev/stderr")));
}

#[test]
fn the_longest_name_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a".repeat(255));
    whole(&path, b"1").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"1");
}

#[test]
fn leftovers_of_this_output_are_cleared_and_what_is_being_written_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("a"), folder.path().join("b"));
    // a killed run leaves its file without a lock
    let mut left: Vec<PathBuf> = Vec::new();
    for target in [&path, &other] {
        streamed(target, |_| {
            let name = names(folder.path()).into_iter().find(|name| name.starts_with(".mercer.")).unwrap();
            left.push(folder.path().join(name));
            Ok(())
        })
        .unwrap();
    }
    left.iter().for_each(|name| fs::write(name, b"half").unwrap());
    let bystander = folder.path().join(".mercer.part");
    fs::write(&bystander, b"").unwrap();
    streamed(&path, |out| {
        assert!(!left[0].exists() && left[1].exists() && bystander.exists());
        let own = names(folder.path());
        // another writer of the same file leaves the one that is open alone
        whole(&path, b"between")?;
        assert_eq!(names(folder.path()), own);
        out.write_all(b"last")
    })
    .unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"last");
}

#[test]
fn writers_at_once_leave_one_whole_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    std::thread::scope(|threads| {
        for writer in 0..8_u8 {
            let path = &path;
            threads.spawn(move || {
                for _ in 0..20 {
                    streamed(path, |out| (0..100).try_for_each(|_| out.write_all(&[writer; 1000]))).unwrap();
                }
            });
        }
    });
    let bytes = fs::read(&path).unwrap();
    assert_eq!(bytes.len(), 100_000);
    assert!(bytes.iter().all(|b| *b == bytes[0]));
    assert_eq!(names(folder.path()), ["a"]);
}

#[test]
fn no_name_aside_comes_twice() {
    // whoever can foretell the name can put a link to another file there
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("b");
    let mut seen = Vec::new();
    for _ in 0..4 {
        streamed(&path, |_| {
            seen.extend(names(folder.path()).into_iter().filter(|name| name.starts_with(".mercer.")));
            Ok(())
        })
        .unwrap();
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 4, "{seen:?}");
}

#[test]
fn one_file_is_the_same_under_all_its_names() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("a"), b"").unwrap();
    fs::write(at("b"), b"").unwrap();
    fs::hard_link(at("a"), at("hard")).unwrap();
    assert!(same_file(&at("a"), &at("./a")) && !same_file(&at("a"), &at("b")));
    assert!(same_file(&at("new"), &at("./new")) && !same_file(&at("new"), &at("newer")));
    assert!(!same_file(&at("a"), &at("new")));
    #[cfg(unix)]
    {
        assert!(same_file(&at("a"), &at("hard")));
        std::os::unix::fs::symlink("a", at("soft")).unwrap();
        assert!(same_file(&at("soft"), &at("hard")));
        assert!(!same_file(Path::new("/dev/null"), Path::new("/dev/null")));
    }
}
